"""Every method of the plain types works on what stands for them; the page's table."""

from __future__ import annotations

import copy
import operator
from collections import Counter, OrderedDict, defaultdict, deque
from pathlib import Path
from typing import Any

import pytest

from tests.comparing import RUNS, directly, told
from txloop import share

PAGE = Path(__file__).parents[2] / "docs" / "sharing-state.md"


def with_advice(x: Any) -> None:
    with pytest.raises(NotImplementedError, match=r"Use T?Counter(Dict)?\(iterable\)"):
        type(x).fromkeys("ab")


OF_DICTS: dict[str, Any] = {
    "clear": lambda x: x.clear(),
    "copy": lambda x: x.copy(),
    "fromkeys": lambda x: type(x).fromkeys("ab", 1),
    "get": lambda x: (x.get("a"), x.get("z", 1)),
    "items": lambda x: tuple(x.items()),
    "keys": lambda x: (*x.keys(), *reversed(x.keys())),
    "pop": lambda x: (x.pop("a"), x.pop("z", 5)),
    "popitem": lambda x: x.popitem(),
    "setdefault": lambda x: (x.setdefault("a", 7), x.setdefault("z", 8)),
    "update": lambda x: x.update({"a": 5}, b=6),
    "values": lambda x: tuple(x.values()),
    "`x[k]`": lambda x: x["a"],
    "`x[k] = v`": lambda x: operator.setitem(x, "z", 1),
    "`del x[k]`": lambda x: operator.delitem(x, "a"),
    "`k in x`": lambda x: ("a" in x, "z" in x),
    "`==`": lambda x: (x == copy.copy(x), x == {}),
    "`|`": lambda x: x | type(x)(x),
    "`|=`": lambda x: operator.ior(x, {"z": 1}),
    "`len`": len,
    "`bool`": bool,
    "`iter`": tuple,
    "`reversed`": lambda x: tuple(reversed(x)),
}

OF_SEQUENCES: dict[str, Any] = {
    "append": lambda x: x.append(9),
    "clear": lambda x: x.clear(),
    "copy": lambda x: x.copy(),
    "count": lambda x: x.count(2),
    "extend": lambda x: x.extend([8, 9]),
    "index": lambda x: x.index(2),
    "insert": lambda x: x.insert(1, 9),
    "pop": lambda x: x.pop(),
    "remove": lambda x: x.remove(2),
    "reverse": lambda x: x.reverse(),
    "`x[i]`": lambda x: (x[0], x[-1]),
    "`x[i] = v`": lambda x: operator.setitem(x, 0, 9),
    "`del x[i]`": lambda x: operator.delitem(x, 0),
    "`v in x`": lambda x: (1 in x, 7 in x),
    "`==`": lambda x: (x == copy.copy(x), x == type(x)()),
    "`<`": lambda x: (x < type(x)([9]), x >= type(x)([9])),
    "`+`": lambda x: x + type(x)([4]),
    "`+=`": lambda x: operator.iadd(x, [4]),
    "`*`": lambda x: x * 2,
    "`*=`": lambda x: operator.imul(x, 2),
    "`len`": len,
    "`bool`": bool,
    "`iter`": tuple,
    "`reversed`": lambda x: tuple(reversed(x)),
}

CALLS: dict[type, dict[str, Any]] = {
    dict: OF_DICTS,
    list: OF_SEQUENCES
    | {
        "sort": lambda x: x.sort(),
        "`x[a:b]`": lambda x: x[1:],
        "`x[a:b] = v`": lambda x: operator.setitem(x, slice(1, 2), [7, 7]),
        "`del x[a:b]`": lambda x: operator.delitem(x, slice(1, None)),
    },
    set: {
        "add": lambda x: x.add(9),
        "clear": lambda x: x.clear(),
        "copy": lambda x: x.copy(),
        "difference": lambda x: x.difference({1}),
        "difference_update": lambda x: x.difference_update({1}),
        "discard": lambda x: x.discard(1),
        "intersection": lambda x: x.intersection({1, 9}),
        "intersection_update": lambda x: x.intersection_update({1, 9}),
        "isdisjoint": lambda x: (x.isdisjoint({9}), x.isdisjoint({1})),
        "issubset": lambda x: x.issubset({1, 2, 3, 4}),
        "issuperset": lambda x: x.issuperset({1}),
        "pop": lambda x: (x.intersection_update({1}), x.pop()),
        "remove": lambda x: x.remove(1),
        "symmetric_difference": lambda x: x.symmetric_difference({1, 9}),
        "symmetric_difference_update": lambda x: x.symmetric_difference_update({1, 9}),
        "union": lambda x: x.union({9}),
        "update": lambda x: x.update({9}),
        "`v in x`": lambda x: (1 in x, 7 in x),
        "`==`": lambda x: (x == {1, 2, 3}, x == {1}),
        "`<`": lambda x: (x < {1, 2, 3, 4}, x >= {1}),
        "`|`": lambda x: x | {9},
        "`&`": lambda x: x & {1},
        "`-`": lambda x: x - {1},
        "`^`": lambda x: x ^ {1, 9},
        "`|=`": lambda x: operator.ior(x, {9}),
        "`&=`": lambda x: operator.iand(x, {1}),
        "`-=`": lambda x: operator.isub(x, {1}),
        "`^=`": lambda x: operator.ixor(x, {1, 9}),
        "`len`": len,
        "`bool`": bool,
        "`iter`": frozenset,
    },
    deque: OF_SEQUENCES
    | {
        "appendleft": lambda x: x.appendleft(9),
        "extendleft": lambda x: x.extendleft([8, 9]),
        "maxlen": lambda x: x.maxlen,
        "popleft": lambda x: x.popleft(),
        "rotate": lambda x: x.rotate(1),
    },
    defaultdict: OF_DICTS
    | {
        "`|`": lambda x: x | {"z": 1},
        "`==`": lambda x: (x == copy.copy(x), x == {}),
        "default_factory": lambda x: (x.default_factory, x["new"]),
        "fromkeys": lambda x: type(x).fromkeys("ab", 1),
    },
    OrderedDict: OF_DICTS
    | {
        "move_to_end": lambda x: x.move_to_end("a"),
        "popitem": lambda x: (x.popitem(), x.popitem(last=False)),
    },
    Counter: {name: call for name, call in OF_DICTS.items() if name != "`|=`"}
    | {
        "elements": lambda x: tuple(x.elements()),
        "fromkeys": lambda x: with_advice(x),
        "most_common": lambda x: x.most_common(1),
        "subtract": lambda x: x.subtract("ab"),
        "total": lambda x: x.total(),
        "update": lambda x: x.update("abz"),
        "`+`": lambda x: x + Counter("az"),
        "`-`": lambda x: x - Counter("az"),
        "`&`": lambda x: x & Counter("az"),
        "`<=`": lambda x: (x <= Counter("aaaabbbb"), x > Counter("a")),
        "`+=`": lambda x: operator.iadd(x, Counter("az")),
        "`-=`": lambda x: operator.isub(x, Counter("az")),
        "`|=`": lambda x: operator.ior(x, Counter("az")),
        "`&=`": lambda x: operator.iand(x, Counter("az")),
    },
}

EXAMPLES: dict[type, Any] = {
    dict: {"a": 3, "b": 1},
    list: [1, 2, 3],
    set: {1, 2, 3},
    deque: deque([1, 2, 3], maxlen=5),
    defaultdict: defaultdict(int, a=3, b=1),
    OrderedDict: OrderedDict(a=3, b=1),
    Counter: Counter("aaab"),
}

EACH = [(kind, name) for kind, calls in CALLS.items() for name in calls]


@pytest.mark.parametrize("kind", CALLS, ids=lambda kind: kind.__name__)
def test_no_method_is_forgotten(kind):
    public = {name for name in dir(kind) if not name.startswith("_")}

    assert public == {name for name in CALLS[kind] if not name.startswith("`")}


@pytest.mark.parametrize("run", RUNS)
@pytest.mark.parametrize(
    ("kind", "name"), EACH, ids=[f"{kind.__name__} {name}" for kind, name in EACH]
)
def test_it_does_what_the_plain_one_does(kind, name, run):
    # GIVEN
    call, example = CALLS[kind][name], EXAMPLES[kind]
    shared = share(example)

    # THEN
    assert told(directly, call, copy.deepcopy(example)) == told(run, call, shared)


def rows() -> list[str]:
    """Return the rows of the page's table, as it should be."""
    return [
        f"| `{kind.__name__}` | `{type(share(EXAMPLES[kind])).__name__}` "
        f"| {', '.join(_shown(kind, name) for name in CALLS[kind])} |"
        for kind in CALLS
    ]


def _shown(kind: type, name: str) -> str:
    """Return a name as the table has it: with a star where the result is plain."""
    result = CALLS[kind][name](share(EXAMPLES[kind]))
    quoted = name if name.startswith("`") else f"`{name}`"
    return quoted.replace("|", r"\|") + (r"\*" if type(result) is kind else "")


def test_the_table_of_the_page_is_what_was_tried():
    lines = PAGE.read_text().splitlines()
    start = lines.index("| plain | shared | what it does as the plain one |") + 2

    assert rows() == lines[start : start + len(CALLS)]


if __name__ == "__main__":
    print(*rows(), sep="\n")  # noqa: T201 # to be pasted
