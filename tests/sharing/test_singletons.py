"""Classes that have one object: by a class method, or by a metaclass."""

from __future__ import annotations

import pytest

from tests.sharing.random_programs import program_of
from tests.sharing.rounds import left, shared
from tests.sharing.test_random_programs import asked_of, check

BY_METHOD = """
class Store:
    _instance = None
    def __init__(self):
        self.items = []
    def add(self, x):
        self.items = [*self.items, x]
    {}
"""

METHODS = {
    "cls": "@classmethod\n    def get(cls): cls._instance = cls()",
    "its name": "@staticmethod\n    def get(): Store._instance = Store()",
}

BY_METACLASS = """
class Singleton(type):
    "Makes one object of each class."
    _instances = {}
    kind: str = "one"
    def __call__(cls, *args):
        if cls not in cls._instances:
            cls._instances[cls] = super().__call__(*args)
        return cls._instances[cls]
    def forget(cls): cls._instances.clear()

class Store(metaclass=Singleton):
    def __init__(self):
        self.items = []
    def add(self, x):
        self.items = [*self.items, x]

class Special(Store):
    pass

class Based(External, metaclass=Singleton):
    pass
"""

DOES_MORE = {
    "another method of classes": ("def __call__", "def __new__"),
    "what it sets": ("_instances = {}", "__slots__ = ()"),
    "what it declares": ("kind: str", "__kind__: str"),
    "a statement": ("kind: str", "print('x'); kind: str"),
    "a decorator": ("class Singleton", "@decorated\nclass Singleton"),
    "a base": ("Singleton(type)", "Singleton(Base)"),
    "another one of that name": (
        "class Singleton",
        "class Singleton: 0\nclass Singleton",
    ),
    "an argument": ("metaclass=Singleton)", "metaclass=Singleton, x=1)"),
}


@pytest.mark.parametrize("case", METHODS)
def test_the_object_that_a_class_keeps_is_shared(case):
    text = shared(BY_METHOD.format(METHODS[case]), "Store._instance")

    assert "class Store(txloop.TObject, dataclass=False)" in text


@pytest.mark.parametrize("kind", ["type(self)", "self.__class__"])
def test_an_object_that_another_one_makes_of_its_class_is_shared(kind):
    method = f"def twin(self): twins.append({kind}())"
    source = f"twins = []\n{BY_METHOD.format(method)}"

    assert "class Store(txloop.TObject, dataclass=False)" in shared(source, "twins")


def test_the_objects_that_a_metaclass_keeps_are_shared():
    text = shared(BY_METACLASS, "Singleton._instances")

    assert "_instances = txloop.share({})" in text
    assert "class Store(txloop.TObject, dataclass=False, metaclass=Singleton)" in text
    assert "class Based(External, metaclass=Singleton)" in text


@pytest.mark.parametrize("case", DOES_MORE)
def test_a_metaclass_that_does_more_than_calls_leaves_its_classes_alone(case):
    source = BY_METACLASS.replace(*DOES_MORE[case])

    assert "class Store(metaclass=Singleton" in shared(source, "Singleton._instances")
    assert "metaclass" in left(source, "Singleton._instances") or case.startswith("ano")


BY_NEW = """
class Store:
    _instance = None
    {}
    def add(self, x):
        self.items = [*self.items, x]

store = Store()
"""

SETS = """def __new__(cls, *args):
        if cls._instance is None:
            cls._instance = super().__new__(cls)
            cls._instance.items = []
        return cls._instance"""

SETS_BY_NAME = """def __new__(cls):
        if Store._instance is None:
            Store._instance = made = super(Store, cls).__new__(cls)
            made.items = []
        return Store._instance"""

BY_CLASS = """_all = {}
    def __new__(cls):
        if cls not in cls._all:
            cls._all[cls] = object.__new__(cls)
            cls._all[cls].items = []
        return cls._all[cls]"""

FRESH = """def __new__(cls):
        made = object.__new__(cls)
        made.items = []
        return made"""

OTHER = """
class Other:
    _instance = None
    def __new__(cls):
        cls._instance = super().__new__(cls)
        return cls._instance
"""


@pytest.mark.parametrize("new", [SETS, SETS_BY_NAME, BY_CLASS, FRESH])
@pytest.mark.parametrize("more", ["", OTHER, "Store._instance = None"])
def test_an_object_that_is_made_by_new_is_shared(new, more):
    text = shared(BY_NEW.format(new) + more, "store")

    assert "class Store(txloop.TObject, dataclass=False" in text


def test_an_object_by_new_is_shared_with_those_of_derived_classes():
    derived = "class More(Store): pass"

    assert "TObject" in shared(BY_NEW.format(BY_CLASS) + derived, "store")


@pytest.mark.parametrize(
    ("new", "more"),
    [
        (SETS.replace("super().__new__(cls)", "other"), ""),
        (SETS.replace("return cls._instance", "return cls"), ""),
        (SETS.replace("def", "async def"), ""),
        (SETS.replace("def", "@marked\n    def"), ""),
        (SETS.replace("(cls, *args):", "(cls, *args):\n        cls = args[0]"), ""),
        (SETS + " or 1", ""),
        (SETS, "Store._instance = other"),
        (SETS, "setattr(Store, '_instance', other)"),
        (SETS, "class More(Store): pass"),
        (SETS, "store.__dict__.update(other)\nsetattr(store, other, 1)"),
        (SETS, "def __getnewargs__(self): return ()"),
        (SETS_BY_NAME, "class More(Store): pass"),
        (BY_CLASS, "Store._all[Store] = other"),
        (BY_CLASS, "Store._all.update(other)"),
        (BY_CLASS.replace("[cls] = ", "[cls] = other or "), ""),
        (BY_CLASS.replace("{}", "dict(other)"), ""),
        (FRESH.replace("object.__new__(cls)", "object.__new__(other)"), ""),
        (FRESH.replace("made.items", "made = other\n        made.items"), ""),
        (FRESH, "import dataclasses\n@dataclasses.dataclass\nclass D(Store): x: int"),
    ],
)
def test_a_class_whose_new_may_return_another_object_is_left_alone(new, more):
    if more.startswith("def "):
        new, more = f"{new}\n    {more}", ""
    source = BY_NEW.format(new) + more

    assert "TObject" not in shared(source, "store")


MADE = """
class Kept:
    _instance = None
    ready = False
    def __new__(cls, *args):
        if cls._instance is None:
            cls._instance = super().__new__(cls)
            cls._instance.set_up()
        return cls._instance
    def __init__(self, name=""):
        if self.ready:
            return
        self.ready, self.name = True, name
    def set_up(self):
        self.items = [self.ready]
class OneEach:
    _all = {}
    def __new__(cls, *args):
        if cls not in cls._all:
            cls._all[cls] = super().__new__(cls)
            cls._all[cls].items = []
        return cls._all[cls]
class Rooms(OneEach):
    def __init__(self, name=""):
        self.name = name
class People(OneEach):
    count = 0
class Pair:
    def __new__(cls, left, right):
        self = object.__new__(cls)
        self.left, self.right, self.seen = left, right, []
        return self
rooms = Rooms("first")
pairs = []
"""

MADE_USED = [
    "Kept(k).items.append(v)\nmore += [Kept().items, Kept().name, Kept() is Kept(k)]",
    "more += [getattr(Kept(), 'items', 0), Kept().ready]",
    "Rooms(k).items.append(v)\nmore += [rooms.items, rooms.name, rooms is Rooms(k)]",
    "People(k).count += v\nmore += [People().count, People.count, Rooms().items]",
    "pairs.append(Pair(k, v))\nmore += [[p.left, p.right, p.seen] for p in pairs]",
    "pairs[0].seen.append(v)\nmore += [copy.copy(rooms).items, pairs[0].seen]",
    "copy.deepcopy(rooms).items.append(k)\nmore += [rooms.items, Rooms() is rooms]",
    "copy.copy(pairs[0])",
]


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_what_uses_objects_made_by_new_answers_as_on_stock_tornado():
    source = program_of([[one] for one in MADE_USED], [MADE])

    said = check(source, asked_of(len(MADE_USED)), good=0.8)

    for name in ("Kept", "OneEach", "Pair"):
        assert f"class {name} (app, " in said
