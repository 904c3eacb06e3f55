"""One round of rewriting, with what a survey would have found put in by hand."""

from __future__ import annotations

import ast
import textwrap
from typing import TYPE_CHECKING

from txloop.sharing.making import Site
from txloop.sharing.rewriting import Round
from txloop.sharing.survey import Seed, Survey
from txloop.sharing.texts import Text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

__all__ = ["changes_in_loops", "left", "module", "shared"]


def module(source: str, name: str = "app", *also: str) -> Text:
    """Return a module of that text, and of these names."""
    text = textwrap.dedent(source).lstrip()
    return Text(f"/program/{name}.py", name, name, text, also=also)


def shared(source: str, *names: str, others: Mapping[str, str] | None = None) -> str:
    """Return what becomes of a module when these variables are found to be shared."""
    turn = _turn(source, names, others or {})
    return "\n".join(text.source for text in turn.texts)


def left(source: str, *names: str, others: Mapping[str, str] | None = None) -> str:
    """Return why something of that module is left alone."""
    its = _turn(source, names, others or {}).left.values()
    return "; ".join(one.reason for one in its)


def changes_in_loops(source: str) -> bool:
    """Tell whether a loop of that module may change what it goes over."""
    return _round(source, (), {}).changes_in_loops


def _turn(source: str, names: tuple[str, ...], others: Mapping[str, str]) -> Round:
    turn = _round(source, names, others)
    turn.run()
    return turn


def _round(source: str, names: tuple[str, ...], others: Mapping[str, str]) -> Round:
    main = module(source, "app", "__main__")
    texts = [main, *(module(text, name) for name, text in others.items())]
    seeds = [_seed(texts[0], name) for name in names]
    return Round(texts, Survey(seeds=seeds, handlers={*_handlers(texts)}), {})


def _handlers(texts: Iterable[Text]) -> Iterator[tuple[str, str]]:
    """Yield what a survey says of the classes that are handlers by their bases."""
    for text in texts:
        for node in ast.walk(text.tree):
            match node:
                case ast.ClassDef(name=name, bases=[base, *_]):
                    if ast.unparse(base).endswith("Handler"):
                        yield text.file, name


def _seed(text: Text, name: str) -> Seed:
    """Return what a survey says of a variable of the module, or of ``Class.name``."""
    owner, _, attribute = name.rpartition(".")
    kind = "class" if owner else "module"
    site = _site(text, attribute)
    of = f"app.{owner}" if owner else "app"
    return Seed(f"app.{name}", kind, of, attribute, "", site, (), (), shared=False)


def _site(text: Text, name: str) -> Site | None:
    for node in ast.walk(text.tree):
        match node:
            case ast.Assign(targets=[ast.Name(id=found)], value=value) if found == name:
                pass
            case ast.AnnAssign(target=ast.Name(id=found), value=ast.expr() as value):
                if found != name:
                    continue
            case _:
                continue
        if isinstance(value, ast.Constant):
            return None
        return Site.of(text.file, value)
    return None
