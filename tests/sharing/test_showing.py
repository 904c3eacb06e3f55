"""The order of attributes that ``vars`` shows: that in which they were set."""

from __future__ import annotations

import pytest

from tests.sharing.rounds import shared

SOURCE = """
class User:
    age: int
    def rename(self, name): self.name = name
    def __init__(self, name, age):
        self.name = name
        self.age = age
{more}
users = []
def add(name): users.append(User(name, 1))
def show(): return [{shown} for one in users]
"""

METHODS = {
    "two that are set later": "def hide(self):\n    self.hidden = self.gone = True",
    "one that is set, or not": "    if age > 1: self.long = 1",
    "one that is deleted": "def clear(self): del self.name",
    "one that is taken out": "def clear(self): self.__dict__.pop('name')",
    "one that a method may set": "    self.hide()\ndef hide(self): self.hidden = True",
    "an attribute of others": "def hide(self):\n    self.a = 1\n    users[0].b = 1",
}

ORDERED = {
    "nothing": "",
    "one that is set later": "def hide(self): self.hidden = True",
    "one that is set again": "def hide(self):\n    self.age = self.name = 1",
    "one that has a value already": "    if age > 1: self.age = 1",
}

ASKED = {
    "one": "vars(one)['name']",
    "whether there is one": "('name' in one.__dict__, vars(one).get('age'))",
    "how many": "len(vars(one))",
    "in order": "sorted(vars(one))",
}


def _source(more="", shown="vars(one)"):
    lines = [f"    {line}" for line in more.split("\n")]
    return SOURCE.replace("{more}", "\n".join(lines)).replace("{shown}", shown)


@pytest.mark.parametrize("shown", ["vars(one)", "json.dumps(one.__dict__)"])
@pytest.mark.parametrize("case", METHODS)
def test_a_class_that_may_set_attributes_in_any_order_becomes_a_namespace(case, shown):
    source = _source(METHODS[case], shown)

    assert "class User(txloop.TNamespace" in shared(source, "users")


@pytest.mark.parametrize("case", ORDERED)
def test_what_sets_them_in_one_order_becomes_a_shared_class(case):
    assert "class User(txloop.TObject" in shared(_source(ORDERED[case]), "users")


@pytest.mark.parametrize("case", ASKED)
@pytest.mark.parametrize("more", METHODS)
def test_in_any_order_may_be_set_what_is_asked_for_by_name(more, case):
    if "__dict__" in METHODS[more]:
        return
    source = _source(METHODS[more], ASKED[case])

    assert "class User(txloop.TObject" in shared(source, "users")


def test_what_derived_classes_set_before_their_base_needs_a_namespace():
    derived = (
        "class Guest(User):\n    def __init__(self):\n        self.guest = True\n"
        "        super().__init__('guest', 0)\n"
    )
    source = _source() + derived

    assert "class User(txloop.TNamespace)" in shared(source, "users")


def test_another_class_may_show_its_attributes():
    source = _source(METHODS["one that is deleted"], "one.name")
    source += "class Other: pass\nothers = [Other()]\nprint(vars(others[0]))\n"

    assert "class User(txloop.TObject" in shared(source, "users")
