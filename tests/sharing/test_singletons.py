"""Classes that have one object: by a class method, or by a metaclass."""

from __future__ import annotations

import pytest

from tests.sharing.rounds import left, shared

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
