"""Objects whose operators and special methods change them."""

from __future__ import annotations

from tornado.web import RequestHandler

from tests.shapes.shape import burn, writes


class Money:
    def __init__(self):
        self.n = 0
        self.items = [1, 2]

    def _more(self, result):
        before = self.n
        burn()
        self.n = before + 1
        return result

    def __lshift__(self, other):
        return self._more(self)

    def __iadd__(self, other):
        return self._more(self)

    def __contains__(self, item):
        return self._more(True)

    def __str__(self):
        return str(self._more(self).n)

    def __len__(self):
        return self._more(self.n + 1)

    def __iter__(self):
        return self._more(iter(self.items))

    def __call__(self):
        return self._more(self).n

    def __enter__(self):
        return self._more(self)

    def __exit__(self, *error):
        self.n += 1

    def __hash__(self):
        return self._more(7)

    def __eq__(self, other):
        return self._more(True)

    def __bool__(self):
        return self._more(True)

    def __getitem__(self, key):
        return self._more(key)

    def __setitem__(self, key, value):
        self.n += value

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        return self._more(name)

    def __format__(self, spec):
        return self._more(spec)

    def __lt__(self, other):
        return self._more(True)

    def __delitem__(self, key):
        self.n += 1


shift, contained, shown, sized, iterated = (Money() for _ in range(5))
called, entered, hashed, compared, tested = (Money() for _ in range(5))
gotten, assigned, looked, formatted, least, erased = (Money() for _ in range(6))
augmented = Money()


@writes()
class Lshift(RequestHandler):
    def get(self):
        shift << 1
        self.write(str(shift.n))


@writes()
class Iadd(RequestHandler):
    def get(self):
        global augmented
        burn()
        augmented += 1
        self.write(str(augmented.n))


@writes()
class Contains(RequestHandler):
    def get(self):
        found = 1 in contained
        self.write(f"{found} {contained.n}")


@writes()
class Str(RequestHandler):
    def get(self):
        self.write(str(shown))


@writes()
class Len(RequestHandler):
    def get(self):
        burn()
        self.write(str(len(sized)))


@writes()
class Iter(RequestHandler):
    def get(self):
        burn()
        self.write(f"{sum(iterated)} {iterated.n}")


@writes()
class Callable(RequestHandler):
    def get(self):
        self.write(str(called()))


@writes()
class With(RequestHandler):
    def get(self):
        with entered as money:
            burn()
            self.write(str(money.n))


@writes()
class Hash(RequestHandler):
    def get(self):
        burn()
        self.write(f"{len({hashed: 1})} {hashed.n}")


@writes()
class Equal(RequestHandler):
    def get(self):
        burn()
        self.write(f"{compared == 3} {compared.n}")


@writes()
class Truth(RequestHandler):
    def get(self):
        burn()
        self.write(f"{'yes' if tested else 'no'} {tested.n}")


@writes()
class Getitem(RequestHandler):
    def get(self):
        burn()
        self.write(f"{gotten['a']} {gotten.n}")


@writes()
class Setitem(RequestHandler):
    def get(self):
        burn()
        assigned["a"] = 2
        self.write(str(assigned.n))


@writes()
class GetattrMethod(RequestHandler):
    def get(self):
        burn()
        self.write(f"{looked.anything} {looked.n}")


@writes()
class Format(RequestHandler):
    def get(self):
        burn()
        self.write(f"{formatted:wide} {formatted.n}")


@writes()
class LessThan(RequestHandler):
    def get(self):
        burn()
        sorted([1, least])
        self.write(str(least.n))


@writes()
class Delitem(RequestHandler):
    def get(self):
        burn()
        del erased["a"]
        self.write(str(erased.n))
