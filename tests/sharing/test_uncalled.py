"""Variables and attributes that have the name of a function, and are none."""

from __future__ import annotations

import pytest

from tests.sharing.rounds import shared

OBJECTS = """
table = {{}}
class Player:
    def __init__(self, user):
        table[0] = user
        table[1] = user
        user.append(0)
def user(method):
    def wrapper(self, *args):
        return method(self, *args)
    return wrapper
class Main(RequestHandler):
    @user
    def put(self, key):
        Player([])
    def get(self, key):
        user = table[key].user
        self.write(f"{{user}} {{user!r}}")
{}
"""


@pytest.mark.parametrize(
    "more",
    [
        "",
        "def keep(key, user): table[key] = user",
        "def keep(key):\n    user = 'u'\n    table[key] = user",
        "keep = lambda key, user: table.update({key: user})",
        "from library import rules\nprint(rules.width)",
    ],
)
def test_a_variable_named_as_a_decorator_is_another(more):
    assert "table = txloop.share({})" in shared(OBJECTS.format(more), "table")


@pytest.mark.parametrize(
    "more",
    [
        "ways = [user]",
        "def keep(one=user): return one",
        "def keep():\n    def user(x): return x\n    return user",
        "class Ways:\n    user = user",
        "class Ways:\n    def user(self): pass\nprint(Ways.user)",
        "import app\nprint(app.user)",
        "import app\nkeep = app\ndef ask(x): print(x.way.user)",
        "import sys\ndef ask(): return sys.modules['app'].user",
        "import sys\nme = sys.modules['app']\ndef ask(x): return me.user",
        "ways = Ways()\nways.user = lambda method: method",
    ],
)
def test_a_function_that_is_handed_on_may_be_given_anything(more):
    assert "txloop" not in shared(OBJECTS.format(more), "table")
