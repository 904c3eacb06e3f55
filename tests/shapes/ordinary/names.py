"""Module-level names that are bound anew: numbers, text, tuples."""

from __future__ import annotations

import sys

from tornado.web import RequestHandler

from tests.shapes.ordinary import clock
from tests.shapes.ordinary.clock import tick, ticked
from tests.shapes.shape import burn, writes

count = 0
text = ""
pair = (0, 0)
seen = frozenset()
total = 0.0
big = 1
named = 0
through_globals = 0
through_exec = 0
through_vars = 0
through_setattr = 0
through_module = 0
walrus = 0
loop_variable = 0
unpacked, other = 0, 0
deleted = 0
flag = False
chained = mirrored = 0
in_finally = 0
in_except = 0
with_target = 0
imported_as = 0


@writes(total=lambda: count)
class GlobalInt(RequestHandler):
    def get(self):
        global count
        burn()
        count += 1
        self.write(str(count))


@writes()
class GlobalReadThenWritten(RequestHandler):
    def get(self):
        global big
        before = big
        burn()
        big = before * 2
        self.write(str(big))


@writes()
class GlobalText(RequestHandler):
    def get(self):
        global text
        burn()
        text += "x"
        self.write(str(len(text)))


@writes()
class GlobalTuple(RequestHandler):
    def get(self):
        global pair
        burn()
        pair = (pair[1], pair[1] + 1)
        self.write(repr(pair))


@writes()
class GlobalFrozenset(RequestHandler):
    def get(self):
        global seen
        burn()
        seen |= {len(seen)}
        self.write(str(len(seen)))


@writes()
class GlobalFloat(RequestHandler):
    def get(self):
        global total
        burn()
        total += 0.5
        self.write(str(total))


@writes()
class GlobalFlag(RequestHandler):
    def get(self):
        global flag
        burn()
        flag = not flag
        self.write(str(flag))


def next_number():
    global named
    named += 1
    return named


def through_another():
    return next_number()


@writes()
class GlobalInHelper(RequestHandler):
    def get(self):
        burn()
        self.write(str(through_another()))


@writes()
class GlobalsDict(RequestHandler):
    def get(self):
        burn()
        globals()["through_globals"] += 1
        self.write(str(through_globals))


@writes()
class GlobalByExec(RequestHandler):
    def get(self):
        burn()
        exec("through_exec += 1", globals())
        self.write(str(through_exec))


@writes()
class VarsOfModule(RequestHandler):
    def get(self):
        burn()
        names = vars(sys.modules[__name__])
        names["through_vars"] = names["through_vars"] + 1
        self.write(str(through_vars))


@writes()
class SetattrOnModule(RequestHandler):
    def get(self):
        burn()
        module = sys.modules[__name__]
        setattr(module, "through_setattr", getattr(module, "through_setattr") + 1)
        self.write(str(through_setattr))


@writes()
class AttributeOfModule(RequestHandler):
    def get(self):
        burn()
        here = sys.modules[__name__]
        here.through_module += 1
        self.write(str(through_module))


@writes()
class OtherModule(RequestHandler):
    def get(self):
        burn()
        clock.hours += 1
        self.write(str(clock.hours))


@writes(total=ticked)
class FunctionOfOtherModule(RequestHandler):
    def get(self):
        burn()
        self.write(str(tick()))


@writes()
class ImportInside(RequestHandler):
    def get(self):
        burn()
        from tests.shapes.ordinary import clock

        clock.days.append(1)
        self.write(str(len(clock.days)))


@writes()
class PackageState(RequestHandler):
    def get(self):
        burn()
        import tests.shapes.ordinary.shop

        self.write(str(tests.shapes.ordinary.shop.sell()))


@writes()
class SubmoduleState(RequestHandler):
    def get(self):
        burn()
        from tests.shapes.ordinary.shop import till

        till.coins["penny"] = till.coins.get("penny", 0) + 1
        self.write(str(till.coins["penny"]))


@writes()
class GlobalLoopVariable(RequestHandler):
    def get(self):
        global loop_variable
        burn()
        for loop_variable in range(loop_variable, loop_variable + 2):
            pass
        self.write(str(loop_variable))


@writes()
class GlobalUnpacked(RequestHandler):
    def get(self):
        global unpacked, other
        burn()
        unpacked, other = other + 1, unpacked + 1
        self.write(str(unpacked + other))


@writes()
class GlobalWalrus(RequestHandler):
    def get(self):
        global walrus
        burn()
        if (walrus := walrus + 1) > 0:
            self.write(str(walrus))


@writes()
class GlobalDeleted(RequestHandler):
    def get(self):
        global deleted
        burn()
        value = deleted
        del deleted
        deleted = value + 1
        self.write(str(deleted))


@writes()
class GlobalChained(RequestHandler):
    def get(self):
        global chained, mirrored
        burn()
        chained = mirrored = chained + 1
        self.write(str(mirrored))


@writes()
class InFinally(RequestHandler):
    def get(self):
        global in_finally
        try:
            burn()
            self.write(str(in_finally))
        finally:
            in_finally += 1


@writes()
class InExcept(RequestHandler):
    def get(self):
        global in_except
        burn()
        try:
            raise KeyError("nothing")
        except KeyError:
            in_except += 1
        self.write(str(in_except))


@writes()
class GlobalIndirect(RequestHandler):
    names = ("imported_as",)

    def get(self):
        burn()
        for name in self.names:
            globals().update({name: globals()[name] + 1})
        self.write(str(imported_as))
