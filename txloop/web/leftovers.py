"""What a handler leaves behind in a worker for `on_finish` and the access log.

They run in the loop's process, on a handler object of their own. It gets the attributes
of the handler that made the answer, and its request those of the request there. What
came with the request, or belongs to the application, is here already; the rest travels.
An attribute that cannot travel is missing, and says why when it is read. If `on_finish`
is seen to use it, the request runs on the loop thread instead.
"""

from __future__ import annotations

import contextlib
import copyreg
import io
import pickle
import types
from typing import TYPE_CHECKING, Any, Never

from tornado import httputil
from tornado.locale import CSVLocale, GettextLocale, Locale
from tornado.util import ObjectDict

from txloop.executors.codec.by_value import dumps_by_value
from txloop.web.tornado_private import UIModuleNamespace

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from tornado.web import Application, RequestHandler

    from txloop.web.targets import Target

__all__ = ["Leftovers", "give_ui", "revived", "told"]

# Made anew with the handler object, or only there for what makes the answer.
_LEFT_BEHIND = frozenset(
    {"ui", "_active_modules", "_prepared_future", "_transforms", "_write_buffer"}
)
_TIED = frozenset({"connection", "server_connection", "_body_future"})

_TOLD = ("method", "uri", "remote_ip")  # of a request, by Tornado's access log

_CONSTANTS = frozenset({bool, bytes, float, int, str, tuple, type(None)})

_ABSENT = object()

_PROTOCOL = 5


class Leftovers:
    """The attributes of a handler and its request; made in a worker.

    Attributes:
        packed: Pickles of attributes by whose they are and their names. Those that
            may have an object in common are in the first.
        names: The names of the handler's among them.
        known: What the application, its settings or the route has: where, and the key.
        missing: Why attributes of the handler did not travel.
        gone: Attributes that the request has lost.
    """

    def __init__(
        self,
        packed: Sequence[bytes],
        names: tuple[str, ...],
        known: Mapping[str, tuple[str, str]],
        missing: Mapping[str, str],
        gone: tuple[str, ...],
    ) -> None:
        self.packed = packed
        self.names = names
        self.known = known
        self.missing = missing
        self.gone = gone

    @classmethod
    def of_access(
        cls, handler: RequestHandler, came: tuple[object, ...]
    ) -> Leftovers | None:
        """Return what the access log tells of a request that the handler has changed.

        Args:
            handler: The handler object, which nothing else looks at any more.
            came: From `told`, as the request came.
        """
        now = told(handler.request)
        if now == came:
            return None
        found: dict[tuple[str, str], object] = {
            ("request", name): value for name, value in zip(_TOLD, now, strict=True)
        }
        packed, missing = _packed(found, handler)
        return cls(packed, (), {}, missing, ())

    @classmethod
    def of(
        cls, handler: RequestHandler, before: httputil.HTTPServerRequest, target: Target
    ) -> Leftovers:
        """Collect them.

        Args:
            handler: The handler object, which has made its answer.
            before: The request as it came, from `FrozenRequest.before`.
            target: Where the request went.

        Raises:
            TypeError: if something does not travel, and `on_finish` uses it.
        """
        there = {id(value): place for place, value in _places(target)}
        known: dict[str, tuple[str, str]] = {}
        found: dict[tuple[str, str], object] = {}
        for name, value in _attributes(handler):
            if id(value) in there:
                known[name] = there[id(value)]
            elif name not in _LEFT_BEHIND:
                found["handler", name] = value
        now = vars(handler.request)
        found.update({("request", n): v for n, v in _changed(now, before)})
        gone = tuple(name for name in vars(before) if name not in now)
        packed, missing = _packed(found, handler)
        _check(handler, target, missing)
        names = tuple(name for whose, name in found if whose == "handler")
        return cls(packed, names, known, missing, gone)


def _attributes(handler: RequestHandler) -> Iterator[tuple[str, object]]:
    yield from vars(handler).items()
    for name in copyreg._slotnames(type(handler)):  # type: ignore[attr-defined] # as pickle does
        if hasattr(handler, name):
            yield name, getattr(handler, name)


def _places(target: Target) -> Iterator[tuple[tuple[str, str], object]]:
    """Yield what is in the loop's process, too, and where to find it there."""
    application = target.application
    yield ("application", ""), application
    holders = {
        "attribute": vars(application),
        "setting": application.settings,
        "argument": target.handler_kwargs,
    }
    for kind, holder in holders.items():
        for name, value in holder.items():
            if type(value) not in _CONSTANTS:
                yield (kind, name), value


def _placed(target: Target, place: tuple[str, str]) -> object:
    kind, name = place
    if kind == "application":
        return target.application
    if kind == "attribute":
        return vars(target.application)[name]
    if kind == "setting":
        return target.application.settings[name]
    return target.handler_kwargs[name]


# The request


def told(request: httputil.HTTPServerRequest) -> tuple[object, ...]:
    """Return what Tornado's access log tells of a request."""
    return tuple(getattr(request, name, None) for name in _TOLD)


def _changed(
    now: Mapping[str, object], before: httputil.HTTPServerRequest
) -> Iterator[tuple[str, object]]:
    """Yield the attributes that are not those that Tornado itself would set."""
    with contextlib.suppress(httputil.HTTPInputError):  # answered with 400
        before._parse_body()
    if "_cookies" in now:
        before.cookies  # noqa: B018 # it is made when it is asked for
    was = vars(before)
    for name, value in now.items():
        old = was.get(name, _ABSENT)
        if name in _TIED or value is old:
            continue
        if type(value) is not type(old) or value != old:
            yield name, value


# On the way


def _the_handler() -> RequestHandler:
    return _reviving[-1]


def _the_application() -> Application:
    return _reviving[-1].application


def _the_request() -> httputil.HTTPServerRequest:
    return _reviving[-1].request


def _reduce_locale(locale: Locale) -> tuple[Any, ...]:
    if Locale._cache.get(locale.code) is locale:
        return Locale.get, (locale.code,)
    return object.__reduce_ex__(locale, 2)  # type: ignore[return-value] # a tuple


_reviving: list[RequestHandler] = []  # whose attributes are being unpickled


def _pickled(thing: object, handler: RequestHandler) -> bytes:
    file = io.BytesIO()
    pickler = pickle.Pickler(file, _PROTOCOL)
    pickler.dispatch_table = {
        **copyreg.dispatch_table,
        CSVLocale: _reduce_locale,
        GettextLocale: _reduce_locale,
        type(handler): lambda one: _reduced(one, handler, _the_handler),
        type(handler.request): lambda one: _reduced(one, handler.request, _the_request),
        type(handler.application): lambda one: _reduced(
            one, handler.application, _the_application
        ),
    }
    pickler.dump(thing)
    return file.getvalue()


def _reduced(one: object, here: object, there: Any) -> Any:
    if one is not here:  # another object of the class: the pickle would copy it
        raise TypeError(f"cannot pickle {type(one).__qualname__!r} object")
    return there, ()


def _packed(
    found: Mapping[tuple[str, str], object], handler: RequestHandler
) -> tuple[list[bytes], dict[str, str]]:
    """Pickle what can be; return that, and why the rest cannot."""
    with contextlib.suppress(Exception):  # whatever an object's own __reduce__ does
        return [_pickled(found, handler)], {}
    together, packed, missing = {}, [], {}
    for place, value in found.items():
        try:
            try:
                _pickled(value, handler)
                together[place] = value
            except Exception:  # as above: perhaps a function of no name
                if _leads_to(value, handler):
                    raise
                packed.append(dumps_by_value({place: value}, _PROTOCOL))
        except Exception as error:  # as above
            missing[place[1]] = str(error)
    return [_pickled(together, handler), *packed], missing


def _leads_to(value: object, handler: RequestHandler) -> bool:
    """Tell whether `value` has the handler at hand: by value it would be a copy."""
    inside = [value, *getattr(value, "__dict__", {}).values()]
    inside.append(getattr(value, "__self__", None))
    inside += [cell.cell_contents for cell in getattr(value, "__closure__", None) or ()]
    own = (handler, handler.request, handler.application)
    return any(one is other for one in inside for other in own)


def _check(handler: RequestHandler, target: Target, missing: Mapping[str, str]) -> None:
    """Refuse to go on without what the program is seen to use after the answer.

    Raises:
        TypeError: which names the attribute.
    """
    if not missing:
        return
    kind = type(handler)
    used = _names(handler.on_finish, kind) | _names(handler._log, kind)
    used |= _names(target.application.log_request, type(target.application))
    used |= _names(target.application.settings.get("log_function"), object)
    for name, reason in missing.items():
        if name in used:
            raise TypeError(f"its attribute {name}, which is used later: {reason}")


def _names(function: object, owner: type) -> set[str]:
    """Return the names in a function's code, and in methods of `owner` named there."""
    names: set[str] = set()
    functions = [getattr(function, "__func__", function)]
    for one in functions:  # it grows
        codes = [getattr(one, "__code__", None)]
        for code in codes:  # it grows, too
            if code is None or str(getattr(one, "__module__", "")) == "tornado.web":
                continue
            strings = {const for const in code.co_consts if isinstance(const, str)}
            new = (strings | {*code.co_names}) - names
            names |= new
            codes += [c for c in code.co_consts if isinstance(c, types.CodeType)]
            called = (getattr(owner, name, None) for name in new if name.isidentifier())
            functions += [f for f in called if isinstance(f, types.FunctionType)]
    return names


# In the loop's process


def revived(
    target: Target,
    request: httputil.HTTPServerRequest,
    status_code: int,
    leftovers: Leftovers | None,
) -> RequestHandler:
    """Return a handler object in the state in which the attempt left its own."""
    kind = target.handler_class
    handler = kind.__new__(kind)
    attributes = vars(handler)
    attributes.update(application=target.application, request=request)
    attributes.update(_finished=True, _status_code=status_code, ui=None)
    if leftovers is None:
        return handler
    with contextlib.suppress(httputil.HTTPInputError):  # answered with 400
        request._parse_body()
    for name in leftovers.gone:
        vars(request).pop(name, None)
    missing = dict(leftovers.missing)
    try:
        found = _unpacked(leftovers, handler)
    except Exception as error:  # whatever the classes of the program raise
        found = {}
        missing.update(dict.fromkeys(leftovers.names, str(error)))
    for (whose, name), value in found.items():
        object.__setattr__(handler if whose == "handler" else request, name, value)
    for name, place in leftovers.known.items():
        object.__setattr__(handler, name, _placed(target, place))
    attributes.update(_prepared_future=None, _write_buffer=[])
    attributes["_transforms"] = [
        transform(request) for transform in target.application.transforms
    ]
    give_ui(handler)
    if missing:
        with contextlib.suppress(Exception):  # some classes cannot be derived from
            handler.__class__ = _lacking(kind, missing)
    return handler


def give_ui(handler: RequestHandler) -> None:
    """Let templates have what the handler's constructor gave them."""
    application, method = handler.application, handler._ui_method
    ui = ObjectDict((n, method(m)) for n, m in application.ui_methods.items())
    ui["_tt_modules"] = UIModuleNamespace(handler, application.ui_modules)
    ui["modules"] = ui["_tt_modules"]
    handler.ui = ui


def _unpacked(
    leftovers: Leftovers, handler: RequestHandler
) -> Mapping[tuple[str, str], object]:
    found: dict[tuple[str, str], object] = {}
    _reviving.append(handler)
    try:
        for packed in leftovers.packed:
            found.update(pickle.loads(packed))
        return found
    finally:
        _reviving.pop()


class _Missing:
    """Takes the place of an attribute that did not travel; it may be set anew."""

    def __init__(self, name: str, reason: str) -> None:
        self._name = name
        self._reason = reason

    def __get__(self, handler: object, kind: type) -> Never:
        raise AttributeError(
            f"{self._name} did not travel from the worker because: {self._reason}; "
            "what on_finish() or the access log needs should be plain data",
            name=self._name,
            obj=handler,
        )


def _lacking(kind: type, missing: Mapping[str, str]) -> type:
    """Return a class like `kind` whose objects lack some attributes, and say why."""
    names = {name: _Missing(name, reason) for name, reason in missing.items()}
    about = {"__module__": kind.__module__, "__qualname__": kind.__qualname__}
    return type(kind)(kind.__name__, (kind,), {**names, **about, "__slots__": ()})
