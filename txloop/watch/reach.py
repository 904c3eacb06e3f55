"""The walk from a function to the plain objects that it can reach.

It follows the names that code uses: in the globals of own functions, in closures and
defaults, in classes of the program and their bases, in objects, containers and what
wraps functions. Names are collected on the way, as in rapid type analysis (Bacon and
Sweeney, 1996): an attribute that no reached code names is not gone into, unless code
uses attributes that it does not name (`getattr`, `vars`). So an application that all
handlers have does not tie them all to what a few of them use.

The walk is wide before it is deep, and ends after `MOST_THINGS`: what is nearest to the
code is under watch, whatever there is besides.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from txloop.scan.live_objects import module_label
from txloop.scan.source import own_modules
from txloop.watch import limits
from txloop.watch.ends import Trail
from txloop.watch.patched import use_patches
from txloop.watch.walk import Walk

if TYPE_CHECKING:
    from collections.abc import Iterable

    from txloop.scan import Patch
    from txloop.watch.pictures import Thing
    from txloop.watch.places import Reach, Roots, Table

__all__ = ["census", "pictures_by_value", "reach_of"]


def reach_of(
    roots: Roots,
    table: Table,
    patches: Iterable[Patch] = (),
    any_hook: bool = False,
) -> Reach:
    """Return what a function can reach; new things are added to `table`.

    Args:
        roots: Where the walk begins.
        table: What is under watch so far.
        patches: What the program sets in libraries.
        any_hook: Whether all counts that others call, not only where code names what
            calls it.
    """
    walk = Walk(table, roots, patches)
    if roots.receiver is not None:
        walk.begin_at_attributes(roots.receiver)
    walk.begin(roots.things)
    walk.begin_at_hooks(any_hook)
    return walk.end()


def census(
    things: Iterable[tuple[str, object]], table: Table, patches: Iterable[Patch] = ()
) -> None:
    """Put what `things` and the program's modules lead to into `table`.

    The nearest first, and not all of a large program: it is for functions that are
    first called later, and takes its time from the first request. No function may ever
    reach it, so what leads to objects of which the program would notice that they are
    kept alive is left out.
    """
    walk = Walk({}, None, patches)
    walk.trail = Trail()
    use_patches(walk)
    modules = ((module_label(vars(one)), one) for one in own_modules())
    walk.begin((*things, *modules), limits.MOST_PICTURED)
    walk.end()
    harmful = walk.trail.leading_to_missed()
    for key, thing in walk.table.items():
        if id(thing.object) not in harmful:
            table[key] = thing


def pictures_by_value(things: Iterable[tuple[str, object]]) -> list[Thing]:
    """Return what travels by value with some objects, with pictures of its own."""
    walk = Walk({}, None, by_value=True)
    walk.begin(things)
    return [watched.thing for watched in walk.reach.watched]
