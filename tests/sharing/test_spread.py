"""What functions do no more with than to give all of it to others: ``f(**given)``."""

from __future__ import annotations

import pytest

from tests.sharing.random_programs import program_of
from tests.sharing.rounds import left, shared
from tests.sharing.test_random_programs import asked_of, check

EVENTS = """
table = {{}}
listeners = []
def on(function):
    listeners.append(function)
    return function
def tell({}):
    for one in listeners:
        {}
@on
def put(name, row):
    table[name] = row
def verb(k):
    {}
"""

GIVEN = {
    "by keywords": ("**given", "one(**given)", "tell(name=str(k), row={lists})"),
    "by position": ("*given", "one(*given)", "tell(str(k), {lists})"),
    "after another": ("what, *given", "one(*given)", "tell(1, str(k), {lists})"),
    "in both ways": ("*a, **b", "one(*a, **b)", "tell(str(k), row={lists})"),
    "in a dict": ("**given", "one(**{**given})", "tell(name=str(k), row={lists})"),
    "as it is": ("name, row", "one(name, row)", "tell(str(k), {lists})"),
}


@pytest.mark.parametrize("case", GIVEN)
def test_what_is_only_spread_is_what_callers_give(case):
    head, body, call = GIVEN[case]
    made = call.format(lists="[1]")

    after = shared(EVENTS.format(head, body, made), "table")

    assert "table = txloop.share({})" in after
    assert call.format(lists="txloop.share([1])") in after


def test_what_is_given_to_what_only_spreads_may_be_used_on():
    call = "x = [1]\n    tell(name=str(k), row=x)\n    x.append(2)"

    after = shared(EVENTS.format("**given", "one(**given)", call), "table")

    assert "x = txloop.share([1])" in after


NOT_ONLY = {
    "it is stored": "one(**given); table['all'] = given; given['late'] = 1",
    "it is changed": "given['row'] = []; one(**given); given['row'].append(1)",
    "an inner function has it": "(lambda: given['row'].append(1))(); one(**given)",
}


@pytest.mark.parametrize("case", NOT_ONLY)
def test_what_is_not_only_spread_leaves_what_it_is_stored_in(case):
    source = EVENTS.format("**given", NOT_ONLY[case], "tell(name=str(k), row=[1])")

    assert "goes on with it" in left(source, "table")


def test_what_spreads_what_is_not_known_leaves_what_it_is_stored_in():
    source = EVENTS.format("**given", "one(**given)", "tell(**{'row': [1]})")

    assert "goes on with it" in left(source, "table")


IN_TWO_TABLES = """
table = {{}}
rows = []
def put(name, row{}):
    table[str(name)] = row
    rows.append(row)
{}
def verb(k):
    {}
"""

BOTH = ("table", "rows")

ALSO_SPREAD = {
    "a mapping after what is placed": ("", "", "put(k, {}, **make())"),
    "a mapping after what is named": ("", "", "put(name=k, row={}, **make())"),
    "what is placed before a list": (", *more", "", "put(k, {}, *make())"),
    "a mapping for a parameter of its name": (", **more", "", "put(k, {}, **make())"),
    "by what only spreads": ("", "def tell(**a): put(1, **a)", "tell(row={})"),
    "by two of them": (
        "",
        "def say(*a): tell(*a)\ndef tell(*a): put(*a)",
        "say(str(k), {})",
    ),
}


@pytest.mark.parametrize("case", ALSO_SPREAD)
def test_what_is_given_beside_what_is_spread_is_known(case):
    more, between, call = ALSO_SPREAD[case]

    after = shared(IN_TWO_TABLES.format(more, between, call.format("[1]")), *BOTH)

    assert call.format("txloop.share([1])") in after


MADE = {
    "put(k, **make())": "put(k, **txloop.share(make()))",
    "put(*make_two())": "put(*txloop.share(make_two()))",
    "d = dict(row=[k == 1]); put(k, **d)": "d = txloop.share(dict(row=[k == 1]))",
    "x = [1]; d = {'row': x}; put(k, **d); x.append(3)": "d = txloop.share({'row': x})",
    "d = {i: [1] for i in ('name', 'row')}; put(**d)": "d = txloop.share({i: [1]",
    "d = ['x', [1]]; put(*d); d[1].append(3)": "d = txloop.share(['x', [1]])",
    "put(k, make()['row'])": "put(k, txloop.share(make())['row'])",
    "x = '1 2'.split(); put(*x); x.append(k)": "x = txloop.share('1 2'.split())",
}

MAKING = """
def make():
    made = {'row': [1]} if len(table) else dict(row=[2])
    return made
def make_two(): return 'x', [1]
"""


@pytest.mark.parametrize("call", MADE)
def test_what_is_spread_is_a_container_if_what_makes_it_is_known(call):
    assert MADE[call] in shared(IN_TWO_TABLES.format("", MAKING, call), *BOTH)


NO_WHOLES = [
    "put(**k)",
    "put(k, **library.make())",
    "put(*each())",
    "put(*zip(k, k))",
    "put(k, *(list(x) for x in k))",
    "x = re.match('a', k); put(k, x['row'])",
    "x = dict(row=[1], socket=socket.socket()); put(k, x['row'])",
    "x = marked(); put(k, x['row'])",
]


@pytest.mark.parametrize("call", NO_WHOLES)
def test_what_may_never_be_shared_is_no_container_for_its_parts(call):
    more = "def each(): yield [1]\n@library.mark\ndef marked(): return {'row': [1]}"
    source = IN_TWO_TABLES.format("", more, call)

    assert "goes on with it" in left(source, *BOTH)


def test_what_is_spread_is_not_copied_if_it_is_there_already():
    more = "class Own(External):\n    old = {'row': [1]}\ndef make(): return Own.old"
    change = "put(k, **make()); Own.old['row'].append(2)"

    assert left(IN_TWO_TABLES.format("", more, change), *BOTH) != ""


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_what_spreads_its_parts_answers_as_on_stock_tornado():
    definitions, bodies = [], []
    for number, call in enumerate(MADE):
        lines = IN_TWO_TABLES.format("", MAKING, "pass").partition("def verb")[0]
        text = [lines, f"{call}\nrows[:0] = [k]\nmore += [rows, table]"]
        for name in ("table", "rows", "put(", "make(", "make_two("):
            own = name.replace("(", "") + str(number) + "(" * name.count("(")
            text = [one.replace(name, own) for one in text]
        definitions.append(text[0])
        bodies.append([text[1]])

    said = check(program_of(bodies, definitions), asked_of(len(bodies)), good=1.0)

    assert "Of 8 verbs, 0 would run in parallel before, 8 after." in said


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_what_is_given_beside_what_is_spread_answers_as_on_stock_tornado():
    definitions, bodies = ["def make():\n    return {}"], []
    for number, (more, between, call) in enumerate(ALSO_SPREAD.values()):
        lines = IN_TWO_TABLES.format(more, between, "pass").partition("def verb")[0]
        body = f"{call.format('[v]')}\nrows[-1].append(2)\nmore += [rows, table]"
        for name in ("table", "rows", "put(", "tell(", "say("):
            own = name.replace("(", "") + str(number) + "(" * name.count("(")
            lines, body = lines.replace(name, own), body.replace(name, own)
        definitions.append(lines)
        bodies.append([body])

    said = check(program_of(bodies, definitions), asked_of(len(bodies)), good=1.0)

    assert "Of 6 verbs, 0 would run in parallel before, 6 after." in said


MAY_BE_SPREAD = {
    "by position": ("", "", "put(*make(), [1])"),
    "by its name": ("", "", "put(k, **{'row': [1]})"),
    "by a part of a list": ("", "", "_, *some = make(); put(k, *some)"),
    "by a request": ("", "", "put(k, **k.request.arguments)"),
    "by what does more": ("", "def tell(**a): seen = a; put(1, **a)", "tell(row=[1])"),
    "by what is given it so": ("", "def tell(**a): put(1, **a)", "tell(*k)"),
    "by what others call": (
        "",
        "def tell(**a): put(1, **a)",
        "tell(row=[]); use(tell)",
    ),
}


@pytest.mark.parametrize("case", MAY_BE_SPREAD)
def test_what_may_be_given_by_what_is_spread_is_not_known(case):
    assert "goes on with it" in left(IN_TWO_TABLES.format(*MAY_BE_SPREAD[case]), *BOTH)


def test_what_has_its_value_by_position_gets_nothing_of_what_is_spread():
    source = """
    numbers = []
    class Note:
        def __init__(self, number, **more):
            self.number = number
            self.more = more
    def make(**given):
        numbers.append(Note(1, **given).number)
    def verb():
        make(rows=[]).number[0] += 1
    """

    assert left(source, "numbers") == ""


NAMED_LIKE = """
class Counter:
    seen = {{}}
def verb(k):
    Counter.seen[k] = 1
    return [Counter.{}]
"""


@pytest.mark.parametrize(("name", "is_method"), [("seen", False), ("update", True)])
def test_only_methods_of_a_plain_class_are_methods_of_one_of_its_name(name, is_method):
    reason = left(NAMED_LIKE.format(name), "Counter.seen")

    assert is_method == ("takes plain objects only" in reason)


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_what_is_only_spread_answers_as_on_stock_tornado():
    definitions, bodies = [], []
    for number, (head, body, call) in enumerate(GIVEN.values()):
        lines = EVENTS.format(head, body, "pass")
        lines = lines.partition("def verb")[0].replace("@on", "@on_")
        call = call.format(lists="[v]")
        for name in ("table", "listeners", "tell", "put"):
            lines = lines.replace(name, f"{name}{number}")
            call = call.replace(name, f"{name}{number}")
        lines = lines.replace("def on(", f"def on{number}(").replace(
            "@on_", f"@on{number}"
        )
        definitions.append(lines)
        more = f"table{number}[str(k)].append(2)\nmore.append(table{number})"
        bodies.append([f"{call}\n{more}"])

    said = check(program_of(bodies, definitions), asked_of(len(bodies)), good=1.0)

    assert " becomes " in said


REGISTERED = """
table, other = {{}}, {{}}
listeners = []
def on(function):
    {}
{}def put(row): table["a"] = row
{}def put_too(row): other["a"] = row
def tell(row):
    for one in listeners: one(row)
def verb(k):
    for row in make(): tell(row)
"""

REGISTERING = {
    "a decorator": ("listeners.append(function)", "@on\n"),
    "one that returns it": ("listeners.append(function); return function", "@on\n"),
    "one with an argument": (
        "def keep(f): listeners.append(f); return f\n    return keep",
        "@on('put')\n",
    ),
}


@pytest.mark.parametrize("case", REGISTERING)
def test_what_a_decorator_keeps_may_be_given_what_others_keep(case):
    body, mark = REGISTERING[case]
    source = REGISTERED.format(body, mark, mark)

    assert "stores 'row' and goes on with it" in left(source, "table", "other")
