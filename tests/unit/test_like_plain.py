"""Containers that pass for plain objects; each program is a process of its own."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

PROGRAMS = {
    "prints like the plain one": """
        plain = {"a": [1, {2}], "b": deque([3], 5), "c": Counter("aab")}
        plain["d"] = OrderedDict(x=1)
        plain["e"] = defaultdict(list, y=[2])
        shared = txloop.share(plain)
        assert repr(plain) == repr(shared) == f"{shared}" == "%s" % shared
        """,
    "has a class that prints like the plain one": """
        kinds = [dict, list, set, deque, defaultdict, OrderedDict, Counter]
        pairs = [(kind, type(txloop.share(kind()))) for kind in kinds]
        for kind, its in (*pairs, (itertools.count, txloop.TCount)):
            assert its is not kind and kind.__name__ == its.__name__
            assert str(kind) == str(its) == f"{its}" == "%r" % its
        class Own(txloop.TDict): pass
        assert "<class '__main__.Own'>" == str(Own)
        """,
    "is encoded as the plain one, wherever it is": """
        plain = [{"a": 1, "b": [{"c": {}}]}, {"d": {"e": []}}, {}]
        rows = txloop.share(plain)
        for shown, shared in (
            (plain, [*rows]),
            ({"rows": plain}, {"rows": [*rows]}),
            ({"rows": plain, "n": 1}, {"rows": rows, "n": 1}),
            ({"x": plain[0], "y": plain[1]}, {"x": rows[0], "y": rows[1]}),
            ({"all": {"x": plain[0]}}, {"all": {"x": rows[0]}}),
            ([plain, plain], [rows, rows]),
        ):
            assert json.dumps(shown) == json.dumps(shared)
            assert json.dumps(shown, indent=1) == json.dumps(shared, indent=1)
            assert json.dumps(shown) == json.dumps(shared, default=str)
        """,
    "is copied into plain ones": """
        plain = {"a": [1, {2}], "b": deque([{3: 3}], 5), "c": Counter("aab")}
        plain["d"] = OrderedDict(x=[1])
        plain["e"] = defaultdict(list, y=[2])
        shared = txloop.share(plain)
        for made in (copy.copy(shared), *map(copy.deepcopy, [shared, [shared]])):
            made = made[0] if type(made) is list else made
            assert made == plain and type(made) is dict
        types = [type(one) for one in made.values()]
        assert types == [list, deque, Counter, OrderedDict, defaultdict]
        assert 5 == made["b"].maxlen and type(made["a"][1]) is set
        assert [] == made["e"]["new"] and type(made["d"]["x"]) is list
        for one in shared.values():
            assert type(copy.copy(one)) in types
        made["a"].append(3)
        assert shared == plain
        twice = txloop.share([[1]])
        twice.append(twice[0])
        twice.append(twice)
        first, second, itself = made = copy.deepcopy(twice)
        assert first is second and itself is made and type(first) is list
        class Own(txloop.TDict): pass
        assert type(copy.deepcopy(Own(a=1))) is type(copy.copy(Own(a=1))) is Own
        class Room(txloop.TObject, dataclass=False):
            def __init__(self): self.names = ["ann"]
        room = Room()
        other = copy.deepcopy(room)
        other.names.append("bob")
        assert ["ann"] == room.names and type(other) is Room
        """,
    "prints what contains itself": """
        shared = txloop.share([1])
        shared.append(shared)
        assert "[1, [...]]" == repr(shared)
        """,
    "is an instance of what it stands for": """
        kinds = [dict, list, set, deque, defaultdict, OrderedDict, Counter]
        for kind in kinds:
            shared = txloop.share(kind())
            assert isinstance(shared, kind) and shared.__class__ is kind
            assert isinstance(shared, Container) and type(shared) is not kind
        assert not isinstance(txloop.share({}), defaultdict)
        """,
    "holds what it would refuse": """
        class Own: pass
        own, shared = Own(), txloop.share({})
        shared[own] = own
        shared["tuple"] = (1, [own])
        shared["lambda"] = lambda: own
        assert shared[own] is own and shared["tuple"][1][0] is own
        assert shared["lambda"]() is own
        """,
    "holds a key that may change": """
        class Own:
            def __init__(self, name): self.name = name
            def __eq__(self, other): return self.name == other.name
            def __hash__(self): return hash(self.name)
        shared = txloop.share({pathlib.Path("a"): 1})
        assert pathlib.PosixPath not in held.STRANGE
        shared[Own("b")] = 2
        assert Own in held.STRANGE and shared[Own("b")] == 2
        """,
    "leaves objects that are there already": """
        @dataclasses.dataclass
        class Own: x: list
        own = Own([])
        assert txloop.share(own) is own and txloop.share([own])[0] is own
        """,
    "has JSON where the plain one has": """
        shared = txloop.share({"a": [1, {2}]})
        assert '{"a": [1, "?"]}' == json.dumps(shared, default=lambda one: "?")
        try: json.dumps(shared)
        except TypeError: pass
        else: raise AssertionError
        class Encoder(json.JSONEncoder):
            def default(self, one): return sorted(one)
        assert '{"a": [1, [2]]}' == json.dumps(shared, cls=Encoder)
        assert Encoder().encode(shared) == Encoder().encode({"a": [1, {2}]})
        encoder = json.JSONEncoder(default=lambda one: 5)
        assert "[[], 5]" == encoder.encode([txloop.share([]), {1}])
        assert 5 == encoder.default(1)
        """,
    "matches what the plain one matches": """
        def found(subject):
            match subject:
                case {"a": a, **rest}: return "mapping", a, rest, type(rest)
                case [1, *rest]: return "sequence", rest, type(rest)
                case dict() | list() | set() | deque(): return "class"
        for one in ({"a": 1, "b": [2]}, [1, 2], {}, [], {1}, deque([1]), deque(),
                    OrderedDict(a=1), Counter("a"), defaultdict(list)):
            assert found(one) == found(txloop.share(one)), one
        """,
    "has views that print like the plain one's": """
        for plain in ({"a": 1}, OrderedDict(a=[1]), Counter("a")):
            shared = txloop.share(plain)
            assert repr(plain.keys()) == repr(shared.keys())
            assert repr(plain.values()) == repr(shared.values())
            assert repr(plain.items()) == repr(shared.items())
        """,
    "is called like the plain one": """
        for plain in ({"a": 1}, Counter("a")):
            for name in ("keys", "values", "items"):
                view = getattr(txloop.share(plain), name)()
                assert type(getattr(plain, name)()).__name__ == type(view).__name__
        for kind in (dict, list, set, deque, defaultdict, OrderedDict, Counter):
            assert kind.__name__ == type(txloop.share(kind())).__name__
        try: hash(txloop.share([]))
        except TypeError as error: assert "unhashable type: 'list'" == str(error)
        """,
    "says what the plain one says": """
        def said(act, one):
            try: return act(one)
            except Exception as error: return type(error), str(error)
        acts = [
            lambda one: one["a"], lambda one: one[1.5], lambda one: one[None],
            lambda one: operator.setitem(one, "a", 1),
            lambda one: operator.delitem(one, 1.5),
            lambda one: one + (1,), lambda one: one + 1, lambda one: one + None,
            lambda one: one * "a",
        ]
        for plain in ([1], deque([1])):
            for act in acts:
                assert said(act, plain) == said(act, txloop.share(plain)), plain
        for index in (slice(1), slice(None, None, 2)):
            act = lambda one: operator.setitem(one, index, 5)
            assert said(act, [1]) == said(act, txloop.share([1]))
        assert said(lambda q: q[1:], deque()) == said(lambda q: q[1:], TDeque())
        class Other:
            def __radd__(self, left): return len(left)
        for plain in ([1, 2], deque("ab")):
            assert 2 == txloop.share(plain) + Other()
        """,
    "is left as the plain one where it cannot be sorted": """
        for items in ([3, 1, "a", 2], [2, 1, None]):
            shared = txloop.share(list(items))
            for one in (items, shared):
                try: one.sort()
                except TypeError: pass
                else: raise AssertionError
            assert items == shared.copy()
        """,
    "is a set on the right": """
        for left in ({9}, frozenset({1, 9})):
            plain, shared = {1, 2}, txloop.share({1, 2})
            for act in (operator.or_, operator.and_, operator.sub, operator.xor):
                wanted, found = act(left, plain), act(left, shared)
                assert type(wanted) is type(found) and wanted == found, left
        """,
    "finds sets in a set": """
        for one in ({frozenset({1}), 2}, txloop.share({frozenset({1}), 2})):
            assert {1} in one and {2} not in one
            one.discard({5})
            one.remove({1})
            assert one == {2}
            for unhashable in ([], [1]):
                try: unhashable in one
                except TypeError as error: assert "unhashable" in str(error)
                else: raise AssertionError
            try: one.remove({1})
            except KeyError as error: assert ({1},) == error.args
            else: raise AssertionError
        """,
    "holds what pickle asks no table about": """
        from txloop.executors.codec.frames import dumps
        inner = []
        held, other = lambda: inner, lambda: 1
        shared = txloop.share({})
        shared.update(a=held, b=bytearray(b"x"))
        assert held is shared["a"]
        for one in (held, [held], bytearray(), (1, bytearray())):
            try: dumps(one)
            except TypeError as error: assert "loop thread only" in str(error)
            else: raise AssertionError(one)
        dumps([other, json.dumps])
        """,
    "cannot be made another's": """
        try: txloop.share([]).__class__ = list
        except TypeError: pass
        else: raise AssertionError
        """,
}

MADE_OF_SETS = """
        by = random.Random(5)
        makings = [
            lambda one: one.copy(), copy.copy, copy.deepcopy,
            lambda one: one | other, lambda one: other | one,
            lambda one: one & other, lambda one: other & one,
            lambda one: one - other, lambda one: other - one,
            lambda one: one ^ other, lambda one: other ^ one,
            lambda one: one.union(more), lambda one: one.intersection(more),
            lambda one: one.difference(more), lambda one: one.intersection(other),
            lambda one: one.symmetric_difference(more),
        ]
        for _ in range(200):
            more = [by.randrange(80) for _ in range(by.randrange(25))]
            other = set(more)
            numbers = @
            for made in makings:
                assert list(made(numbers)) == list(made(shared))
        """

if sys.implementation.name == "cpython":  # where it does not depend on what came first
    PROGRAMS["has the order of a set"] = """
        assert [*({9} | {1, 2})] == [*({9} | txloop.share({1, 2}))]
        numbers = {8, 3, 1, 9, 2}
        shared = txloop.share({9, 2, 8, 1, 3})
        assert list(numbers) == list(shared) and numbers.pop() == shared.pop()
        """
    PROGRAMS["makes sets in the order of a set"] = MADE_OF_SETS.replace(
        "@",
        """set()
            shared = txloop.share(numbers)
            for _ in range(by.randrange(20)):
                number = by.randrange(80)
                numbers.add(number)
                shared.add(number)""",
    )
    PROGRAMS["makes sets in the order of one that began as another"] = (
        MADE_OF_SETS.replace(
            "@",
            """{1, 2, 3, 4, 5, 6, 7}
            shared = txloop.share(numbers)
            for _ in range(by.randrange(20)):
                number = by.randrange(80)
                numbers.add(number)
                shared.add(number)""",
        )
    )
    PROGRAMS["has keys that make sets in the order of a dict's"] = MADE_OF_SETS.replace(
        "@",
        """dict.fromkeys(by.sample(range(80), by.randrange(20))).keys()
            shared = txloop.share(dict(numbers.mapping)).keys()""",
    ).replace("for made in makings:", "for made in makings[3:11]:")

HEAD = """
import collections, copy, dataclasses, itertools, json, operator, pathlib, random
from collections import Counter, OrderedDict, defaultdict, deque
import txloop
from txloop import TDeque
from txloop.stm import held
from txloop.stm.container import Container
txloop.like_plain()
txloop.like_plain()
"""


@pytest.mark.slow
@pytest.mark.parametrize("what", PROGRAMS)
def test_a_container(what):
    source = HEAD + textwrap.dedent(PROGRAMS[what])

    ended = subprocess.run(
        [sys.executable, "-c", source],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )

    assert "" == ended.stderr


def test_without_it_containers_are_what_they_are():
    import txloop

    shared = txloop.share({"a": [1]})

    assert "TDict({'a': TList([1])})" == repr(shared)
    kind: type = dict
    assert not isinstance(shared, kind)
