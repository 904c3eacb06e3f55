"""Sets of numbers that shrink: their order is that of a plain set, or is not seen."""

from __future__ import annotations

import pytest

from tests.sharing.random_programs import program_of
from tests.sharing.rounds import left, shared
from tests.sharing.test_random_programs import asked_of, check
from txloop.sharing.numeric import Numbers

SOURCE = """\
ids = set()
names = dict()
def come(x): ids.add(int(x))
def leave(x): ids.discard(int(x))
def one(text): return text
def show(self):
    @
"""

SHOWN = {
    "a list": "list(ids)",
    "a loop": "[x + 1 for x in ids]",
    "a text": "str(ids)",
    "an f-string": "f'{ids}'",
    "an old format": "'%s of %s' % (1, ids)",
    "a sum of sets": "tuple(ids | {1})",
    "a copy": "list(ids.copy())",
    "a kept copy": "rest = ids - {1}\n    return len(rest), [*rest]",
    "a copy kept elsewhere": "self.rest = ids - {1}\n    return 1",
    "a copy given back": "ids.difference([1])",
    "an answer": "self.write({'ids': [*ids]})",
    "a template": "self.render('x.html', ids=ids)",
    "an element": "next(iter(ids))",
    "the first to go": "ids.pop()",
    "a tie": "sorted(ids, key=names.get)",
    "what has it": "repr({'ids': ids})",
}

UNSHOWN = {
    "sorted": "sorted(ids)",
    "sorted parts": "sorted(x + 1 for x in ids)",
    "counted": "len(ids), sum(ids), max(ids), any(x > 2 for x in ids)",
    "asked": "1 in ids, ids == {1}, ids <= {1}, ids.issubset([1]), bool(ids)",
    "a set of it": "len(ids | {1}), sorted(ids - {1}), sorted(ids.copy())",
    "given on": "sorted(one(ids))",
    "the name of its class": "f'{type(ids).__name__}'",
    "a kept set of it": "rest = ids - {1}\n    return len(rest), sorted(rest)",
}

OTHERS = {
    "texts": ("int(x)", "x"),
    "what only grows": ("ids.discard", "ids.add"),
}


def source_of(shown):
    return SOURCE.replace("@", shown if "return" in shown else f"return {shown}")


TAKEN = {
    "a set": "set(ids)",
    "a frozen set": "str(frozenset(ids))",
    "a display": "list({*ids})",
    "a kept set": "rest = set(ids)\n    return [x for x in rest]",
    "put into another": "rest = set()\n    rest.update(ids)\n    return list(rest)",
    "joined to another": "rest = {1}\n    rest |= ids\n    return list(rest)",
    "a union": "set().union(ids)",
}

ONE_BY_ONE = {
    "a list": "list(ids), str(ids), [*ids], next(iter(ids))",
    "a copy": "list(ids.copy())",
    "operators": "list(ids | {1}), list({1} - ids), tuple(ids & {1, 2})",
    "sorted": "len(set(ids)), sorted(set(ids)), 1 in set(ids), {*ids} == {1}",
    "kept": "rest = set(ids)\n    rest.discard(1)\n    return len(rest)",
}


@pytest.mark.parametrize("case", SHOWN)
def test_a_set_of_numbers_that_shrinks_stays_plain_where_its_order_shows(case):
    source = source_of(SHOWN[case])

    assert source == shared(source, "ids")
    assert "shows the order of a set" in left(source, "ids")


@pytest.mark.parametrize("case", UNSHOWN)
def test_it_is_shared_where_its_order_does_not_show(case):
    assert "ids = txloop.share(set())" in shared(source_of(UNSHOWN[case]), "ids")


@pytest.mark.parametrize("case", OTHERS)
def test_others_are_shared(case):
    source = source_of("list(ids)").replace(*OTHERS[case])

    assert "ids = txloop.share(set())" in shared(source, "ids")


GROWING = ("def leave(x): ids.discard(int(x))\n", "")


@pytest.mark.parametrize("case", TAKEN)
def test_a_set_of_numbers_stays_plain_where_another_takes_it_as_a_table(case):
    source = source_of(TAKEN[case]).replace(*GROWING)

    assert source == shared(source, "ids")
    assert "makes a set of one that has numbers" in left(source, "ids")


@pytest.mark.parametrize("case", ONE_BY_ONE)
def test_it_is_shared_where_its_order_is_known_or_does_not_show(case):
    source = source_of(ONE_BY_ONE[case]).replace(*GROWING)

    assert "ids = txloop.share(set())" in shared(source, "ids")


@pytest.mark.parametrize(
    ("source", "stays"),
    [
        ("d = {}\ndef f(k): d[int(k)] = 1\ndef g(): return list(set(d))\n", True),
        ("d = {}\ndef f(k): d[k] = 1\ndef g(k): return list({*d})\n", False),
        ("d = [0]\ndef f(k): d[0] = int(k)\ndef g(): return list(set(d))\n", False),
    ],
)
def test_a_dict_of_numbers_is_taken_as_a_table_too(source, stays):
    assert stays == (source == shared(source, "d"))


@pytest.mark.parametrize(
    "line",
    ["counts.update(new); counts.pop('a')", "counts['a'] -= 1; counts['a'] |= 2"],
)
def test_a_dict_of_numbers_is_no_set(line):
    source = f"counts = {{}}\ndef f():\n    new = json.loads('')\n    {line}\n"
    source += "    print(counts, [*counts.values()])\n"

    assert "counts = txloop.share({})" in shared(source, "counts")


def test_what_takes_other_arguments_is_no_method_of_a_set():
    source = (
        "stores = {}\ndef f(k):\n    stores[k].add(len(k), 1)\n"
        "    stores[k].remove(k)\n    print(stores)\n"
    )
    assert "stores = txloop.share({})" in shared(source, "stores")


def test_each_value_is_asked_about_once(monkeypatch):
    asked = []
    answer = Numbers._may_be_number

    def note(self, *given):
        asked.append(given)
        return answer(self, *given)

    monkeypatch.setattr(Numbers, "_may_be_number", note)
    calls = "; ".join(f"f{n}(x)" for n in range(4)) + "; f0(k)"
    source = "ids = set()\ndef leave(x): ids.remove(x)\n"
    for n in range(4):
        source += f"def f{n}(x):\n    {calls}; ids.add(x)\n"

    assert "ids = txloop.share(set())" in shared(source, "ids")
    assert len(asked) == len(set(asked)) > 0


PARTS = {
    "a part": "rooms[0].add(1); rooms[0].discard(2); return list(rooms[k])",
    "a loop over parts": (
        "rooms[0].add(1); rooms[0].discard(2)\n"
        "    return [[*x] for x in rooms.values()]"
    ),
    "a parameter": "rooms[0].discard(2); put(rooms[0], k)\n    return str(rooms)",
    "a part's number": (
        "new = json.loads(k)['id']; rooms[0].add(new); rooms[0].remove(1); rooms[0]"
        ".add(new)\n    return repr(rooms)"
    ),
}


@pytest.mark.parametrize("case", PARTS)
def test_a_set_in_a_dict_counts_too(case):
    source = (
        "rooms = {0: set()}\ndef put(where, x: int): where.add(x)\n"
        f"def f(k):\n    {PARTS[case]}\n"
    )

    assert source == shared(source, "rooms")


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_orders_are_those_of_stock_tornado():
    bodies, definitions = [], []
    for number, seen in enumerate(("list(@)", "str(@)", "sorted(@)", "[@.pop()]")):
        name = f"s{number}"
        definitions.append(f"{name} = {{33, 1, 9}}")
        bodies.append(
            [
                f"for x in (33, 1, 9, 17, 65, 25, ord(k[-1])): {name}.add(x)",
                f"{name}.discard(9); {name}.add(41)",
                f"more.append({seen.replace('@', name)})",
            ]
        )

    check(program_of(bodies, definitions), asked_of(len(bodies)), good=1.0)
