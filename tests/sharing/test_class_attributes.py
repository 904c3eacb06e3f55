"""Attributes of classes that are assigned again, and become variables."""

from __future__ import annotations

import textwrap

import pytest

from tests.sharing.random_programs import program_of
from tests.sharing.rounds import shared
from tests.sharing.test_random_programs import asked_of, check

COUNTS = """
class Page:
    hits = 0
    def get(self):
        {} += 1
        return Page.hits
"""


@pytest.mark.parametrize(
    "target",
    [
        "Page.hits",
        "type(self).hits",
        "page = Page\n        page.hits",
        "cls = type(self)\n        cls.hits",
    ],
)
def test_a_class_attribute_that_is_assigned_again_becomes_a_variable(target):
    after = shared(COUNTS.format(target), "Page.hits")

    assert "hits = txloop.TVar(0)" in after
    assert f"{target}.value += 1" in after
    assert "return Page.hits.value" in after


OBJECT = f"""{COUNTS.format("Page.hits")}
{{}}
def count():
    return page.hits
"""


@pytest.mark.parametrize("line", ["page = Page()", "page: Page = Page()"])
def test_a_class_attribute_may_be_asked_of_the_only_object_of_a_variable(line):
    after = shared(OBJECT.format(line), "Page.hits")

    assert "hits = txloop.TVar(0)" in after
    assert "return page.hits.value" in after


@pytest.mark.parametrize(
    "line",
    [
        "page = other(Page())",
        "page = Page() or other",
        "page, other = Page()",
        "page = Page()\npage.__class__ = Other",
        "page = Page()\npage = 1",
        "page = Page()\ndef set_page(x):\n    global page\n    page = x",
        "page = Page()\ndef page(): pass",
        "page = Page()\nimport page",
        "page = Page()\nmodule.page = 1",
        "page = Page()\nsetattr(module, 'page', 1)",
        "for page in Page(): pass",
        "with Page() as page: pass",
        "class Other: hits = 1\nPage = Other\npage = Page()",
        "page = library.Page()",
        "page = Page()\ndef add(): page.hits = 2",
        "page = Page()\ndef add(key): setattr(page, key, 2)",
        "page = Page()\nclass Other(Page): hits = 2",
    ],
)
def test_a_class_attribute_that_may_be_asked_of_another_object_is_left_alone(line):
    assert "hits = txloop" not in shared(OBJECT.format(line), "Page.hits")


@pytest.mark.parametrize(
    ("line", "by"),
    [
        ("def count():", "def count(page):"),
        ("return page.hits", "return [page.hits for page in pages]"),
        ("class Page:", "@marked\nclass Page:"),
        ("class Page:", "class Page(metaclass=Meta):"),
        ("hits = 0", "hits = 0\n    def __new__(cls): return other"),
        ("hits = 0", "hits = 0\n    def __getattribute__(self, name): return 1"),
    ],
)
def test_a_class_attribute_may_be_another_objects_by_what_is_around(line, by):
    source = OBJECT.format("page = Page()").replace(line, by)

    assert "hits = txloop" not in shared(source, "Page.hits")


@pytest.mark.parametrize("text", ["{{ hits }}", "page.hits", "{hits} {0}"])
def test_what_a_text_calls_like_it_is_another(text):
    source = f"{COUNTS.format('Page.hits')}x = {text!r}\n"

    assert "hits = txloop.TVar(0)" in shared(source, "Page.hits")


def test_a_class_attribute_of_several_becomes_a_variable():
    source = COUNTS.replace("hits = 0", "size, hits = 9, 0").format("Page.hits")

    assert "size, hits = 9, txloop.TVar(0)" in shared(source, "Page.hits")


@pytest.mark.parametrize(
    ("line", "target"),
    [
        ("class Other(Page): pass", "type(self).hits"),
        ("def f(x): return x.hits", "Page.hits"),
        ("", "self.hits"),
        ("", "page = Page\n        page = other(page)\n        page.hits"),
        ("class Other(Page): pass", "page = type(self)\n        page.hits"),
        ("def f(x): return getattr(x, 'hits')", "Page.hits"),
        ("page = '<b>{{ handler.hits }}</b>'", "Page.hits"),
        ("page = '{0.hits} and {page.hits!r}'.format", "Page.hits"),
    ],
)
def test_a_class_attribute_that_may_be_anothers_is_left_alone(line, target):
    source = f"{COUNTS.format(target)}{line}\n"

    assert textwrap.dedent(source).lstrip() == shared(source, "Page.hits")


PRIVATE = COUNTS.replace("hits", "__hits")


@pytest.mark.parametrize("target", ["Page.__hits", "type(self).__hits"])
def test_a_private_attribute_of_a_class_becomes_a_variable(target):
    after = shared(PRIVATE.format(target), "Page.__hits")

    assert "__hits = txloop.TVar(0)" in after
    assert f"{target}.value += 1" in after
    assert "return Page.__hits.value" in after


@pytest.mark.parametrize(
    "line",
    [
        "def f(): Page.__hits = 3",  # of another name: nothing makes it private there
        "class Other:\n    def f(self): Page.__hits = 3",
        "Page._Page__hits = 3",
        "def f(): return getattr(Page, '_Page__hits')",
    ],
)
def test_a_private_attribute_that_may_be_used_elsewhere_is_left_alone(line):
    source = f"{PRIVATE.format('Page.__hits')}{line}\n"

    assert "__hits = txloop" not in shared(source, "Page.__hits")


def test_a_private_attribute_is_another_in_a_class_within_its_own():
    inner = "    class Inner:\n        def f(self): Page.__hits = 3"
    source = f"{PRIVATE.format('Page.__hits')}{inner}\n"

    assert "__hits = txloop" not in shared(source, "Page.__hits")


ONLY = """
class Notes:
    __only = None
    def __init__(self):
        self.__rows = []
    @classmethod
    def only(cls):
        if cls.__only is None:
            cls.__only = cls()
        return cls.__only
    def add(self, row):
        self.__rows.append(row)
        return len(self.__rows)
"""


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_the_only_object_in_a_private_attribute_answers_as_on_stock_tornado():
    source = program_of([["more += [Notes.only().add(k)]"]] * 2, [ONLY])

    said = check(source, asked_of(2), good=1)

    assert "class Notes (app, " in said


NUMBERED = """
class Page:
    made = 0
    def __init__(self, name):
        {}.made += 1
        self.number, self.name, self.names = self.made, name, []
class Leaf(Page):
    pass
pages = []
leaves = []
"""

NUMBERED_USED = [
    "pages.append(Page(k))\nmore += [pages[-1].number, Page.made]",
    "leaves.append(Leaf(k))\nmore += [leaves[-1].number, Leaf.made, Page.made]",
    "pages[0].names.append(v)\n"
    "more += [[p.number, p.name, p.names] for p in pages + leaves]",
]


@pytest.mark.parametrize("own", ["type(self)", "self.__class__"])
def test_objects_that_count_in_their_class_are_shared(own):
    source = NUMBERED.format(own) + "def add(name): pages.append(Page(name))\n"

    assert "class Page(txloop.TObject, dataclass=False):" in shared(source, "pages")


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("derived", [True, False])
@pytest.mark.parametrize("own", ["type(self)", "self.__class__"])
def test_what_counts_in_its_class_answers_as_on_stock_tornado(own, derived):
    definition = NUMBERED.format(own)
    if not derived:
        definition = definition.replace("class Leaf(Page):\n    pass", "Leaf = Page")
    source = program_of([[one] for one in NUMBERED_USED], [definition])

    said = check(source, asked_of(len(NUMBERED_USED)), good=1)

    assert "class Page (app, " in said
