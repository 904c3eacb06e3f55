"""What handlers keep as attributes, and store."""

from __future__ import annotations

import pytest

from tests.sharing.rounds import left, shared


@pytest.mark.parametrize(("part", "is_again"), [("a", True), ("b", False)])
def test_parts_of_what_a_handler_has_may_be_stored_twice(part, is_again):
    source = f"""
items = {{}}
table = {{}}
class Rows(RequestHandler):
    def prepare(self): self.row = g()
    def post(self, v):
        items[v] = self.row['a']
        table[v] = self.row[{part!r}]
"""
    assert is_again == ("self.row = txloop.share(g())" in shared(source, "items"))


IN_HANDLERS = """
items = []
class User:
    pass
class Handler(RequestHandler):
    def prepare(self):
        self.body = json.loads(self.request.body)
    def post(self):
        {}
"""


def test_what_a_handler_puts_into_its_argument_is_a_container():
    use = "x = {}\n        self.shelf.append(x)\n        x['a'] = 1"

    assert "x = txloop.share({})" in shared(IN_HANDLERS.format(use), "items")


@pytest.mark.parametrize(
    ("use", "is_left"),
    [
        ("items.append(self.body); self.write(self.body)", False),
        ("self.other = self.body; self.body['n'] = 1", False),
        ("self.u = User(); items.append(self.u); self.u.n = 1", False),
        ("self.u = User(); items.append(self.u.all); self.u.n = 1", True),
        ("self.u = await x(); items.append(self.u); self.u.n = 1", True),
        ("for self.u in x(): items.append(self.u); self.u.n = 1", True),
    ],
)
def test_what_a_handler_keeps_and_changes_is_not_stored(use, is_left):
    source = IN_HANDLERS.format(use)

    assert is_left == ("which changes" in left(source, "items"))


@pytest.mark.parametrize(
    "use",
    [
        "items.append(self.body); self.body['n'] = 1",
        "items.append({'body': self.body}); self.body['n'] = 1",
        "items.append(self.body); self.other = self.body",
        "x = self.body; items.append(x); x['n'] = 1",
        "x = [self.body]; items.append(x); self.body['n'] = 1",
        "x = []; x.append(self.body); items.append(x); self.body['n'] = 1",
        "for x in '12': items.append(self.body)",
        "items.append(getattr(self, 'body')); self.body['n'] = 1",
        "items.append(self.body); (self.body or {})['n'] = 1",
        "items.append(self.body); vars(self)['body']['n'] = 1",
        "self.x = {'in': self.body}; items.append(self.x); self.body['n'] = 1",
    ],
)
def test_what_a_handler_keeps_stores_and_uses_on_is_a_container(use):
    made = "self.body = txloop.share(json.loads(self.request.body))"

    assert made in shared(IN_HANDLERS.format(use), "items")


THROUGH_HANDLERS = {
    "an attribute": ("", "self.p = x; items.append(self.p)"),
    "what an attribute gets": ("", "self.p = {'x': x}; items.append(self.p)"),
    "one attribute in another": (
        "",
        "self.p = [x]; self.q = [self.p]; items.append(self.q)",
    ),
    "an attribute that another method stores": (
        "def done(self): items.append(self.p)",
        "self.p = {'x': x}; self.done()",
    ),
    "a method that gives it to an attribute": (
        "def take(self, x): self.p = [x]; items.append(self.p)",
        "self.take(x)",
    ),
    "a property": (
        "@property\n    def p(self): ...\n"
        "    @p.setter\n    def p(self, x): items.append(x)",
        "self.p = x",
    ),
    "a property of a function": (
        "def put(self, x): items.append(x)\n    p = property(None, put)",
        "self.p = x",
    ),
    "a descriptor": ("p = Kept()", "self.p = x"),
    "any attribute": ("def __setattr__(self, n, x): items.append(x)", "self.p = x"),
}


@pytest.mark.parametrize("case", THROUGH_HANDLERS)
def test_what_a_handler_stores_by_way_of_an_attribute_is_a_container(case):
    method, use = THROUGH_HANDLERS[case]
    source = f"""
items = []
class Kept:
    def __set__(self, one, x): items.append(x)
class Handler(RequestHandler):
    {method}
    def post(self):
        x = []
        {use}
        x.append(1)
"""
    assert "x = txloop.share([])" in shared(source, "items")


def test_what_a_handler_only_keeps_stays_plain():
    source = """
items = []
class Handler(RequestHandler):
    def post(self):
        x = []
        self.p = [x]
        items.append(1)
        x.append(1)
"""
    assert "        x = []\n" in shared(source, "items")


OF_ROUTES = {
    "what was there is left out": ("[x for x in self.table.rows if x != k]", True),
    "by a function": ("list(filter(None, self.table.rows))", True),
    "of another of its attributes": ("[x for x in self.table.others]", True),
    "the object itself": ("[self.table, *self.table.rows]", True),
}


@pytest.mark.parametrize("case", OF_ROUTES)
def test_parts_of_what_was_there_are_stored_again(case):
    value, is_shared = OF_ROUTES[case]
    source = f"""
rows = []
class Rows(RequestHandler):
    def initialize(self, table):
        self.table = table
    def post(self, k):
        self.table.rows.append(k)
        self.table.others.append([k])
    def delete(self, k):
        self.table.rows = {value}
"""
    assert is_shared == ("rows = txloop.share([])" in shared(source, "rows"))


@pytest.mark.parametrize(
    "other",
    [
        "class B(RequestHandler):\n    def get(self): self.table = make()",
        "class B(RequestHandler):\n    @property\n    def table(self): return make()",
    ],
)
def test_parts_of_what_may_be_another_object_stay_plain(other):
    source = f"""
rows = []
class Rows(RequestHandler):
    def initialize(self, table):
        self.table = table
    def post(self, k):
        self.table.rows.append(k)
    def delete(self, k):
        self.table.rows = list(filter(None, self.table.rows))
{other}
"""
    assert "rows = []" in shared(source, "rows")


OF_PROGRAM = """
items = []
users = {{}}
class User:
    def __init__(self): self.rows = []
class Handler(RequestHandler):
    def initialize(self, db): self.db = db
    def get_current_user(self):
        {found}
    def prepare(self):
        self.user = {given}
        self.text = ""
    def post(self, k):
        items.append({part})
        {changed}.append(1)
Application([(".*", Handler, dict(db={{}}))])
"""


@pytest.mark.parametrize(
    ("part", "found", "given"),
    [
        ("self.application.rows['a']", "", "None"),
        ("self.settings['rows'][k]", "", "None"),
        ("self.db['rows']", "", "None"),
        ("self.user.rows", "", "users[self.text]"),
        ("self.user.rows", "", "users.get(self.text)"),
        ("self.user.rows", "", "users[1] if k else users.get(2)"),
        ("self.user['rows']", "", "self.application.users[0].first or users"),
        ("self.current_user.rows", "return users.get(self.text)", "None"),
        ("self.current_user.rows", "u = users[0]; return u", "None"),
        ("self.current_user.rows", "return None", "None"),
    ],
)
def test_parts_of_what_the_program_keeps_are_stored_as_they_are(part, found, given):
    source = OF_PROGRAM.format(
        part=part, found=found or "pass", given=given, changed=part
    )

    assert "which changes" not in left(source, "items")


@pytest.mark.parametrize(
    ("part", "found", "given"),
    [
        ("self.user.rows", "", "User()"),
        ("self.user[0]", "", "users['a'][:]"),
        ("self.user.rows", "", "users.get(self.text, User())"),
        ("self.user.rows", "", "[*users.values()][0]"),
        ("self.user['rows']", "", "self.request.arguments"),
        ("self.request.arguments['rows']", "", "None"),
        ("self.current_user.rows", "return User()", "None"),
        ("self.current_user['rows']", "return json.loads('')", "None"),
        ("self.current_user.rows", "return users.get(1) or User()", "None"),
        ("self.other['rows']", "", "users[self.text]"),
    ],
)
def test_parts_of_what_a_request_has_made_are_not_stored_if_they_change(
    part, found, given
):
    source = OF_PROGRAM.format(
        part=part, found=found or "pass", given=given, changed=part
    )

    assert "which changes" in left(source, "items")


@pytest.mark.parametrize("name", ["arguments", "files", "headers"])
def test_what_tornado_makes_of_a_request_is_no_container(name):
    source = OF_PROGRAM.format(
        part="self.text", found="pass", given=f"self.request.{name}", changed="[]"
    )
    stored = source.replace("self.text)", "self.user)\n        self.user['a'] = k")

    assert "items = txloop.share([])" in shared(source, "items")
    assert "which changes" in left(stored, "items")
