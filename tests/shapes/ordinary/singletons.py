"""Objects of which there is one: singletons of all kinds."""

from __future__ import annotations

import types
from typing import ClassVar

from tornado.web import RequestHandler

from tests.shapes.shape import burn, writes


class Single:
    _it = None

    def __new__(cls):
        if cls._it is None:
            cls._it = super().__new__(cls)
            cls._it.n = 0
        return cls._it


Single()


@writes()
class SingletonByNew(RequestHandler):
    def get(self):
        one = Single()
        before = one.n
        burn()
        one.n = before + 1
        self.write(str(one.n))


class Settings:
    _instance = None

    def __init__(self):
        self.changes = []

    @classmethod
    def instance(cls):
        if cls._instance is None:
            cls._instance = cls()
        return cls._instance


@writes(total=lambda: len(Settings.instance().changes))
class SingletonByClassmethod(RequestHandler):
    def get(self):
        burn()
        Settings.instance().changes.append(1)
        self.write(str(len(Settings.instance().changes)))


class SingletonMeta(type):
    _instances: ClassVar[dict[type, object]] = {}

    def __call__(cls, *args, **kwargs):
        if cls not in cls._instances:
            cls._instances[cls] = super().__call__(*args, **kwargs)
        return cls._instances[cls]


class Database(metaclass=SingletonMeta):
    def __init__(self):
        self.rows = {}

    def insert(self, row):
        self.rows[len(self.rows) + 1] = row
        return len(self.rows)


@writes()
class SingletonByMetaclass(RequestHandler):
    def get(self):
        burn()
        self.write(str(Database().insert("row")))


def singleton(cls):
    instances = {}

    def get_instance():
        if cls not in instances:
            instances[cls] = cls()
        return instances[cls]

    return get_instance


@singleton
class Board:
    def __init__(self):
        self.posts = []


@writes()
class SingletonByDecorator(RequestHandler):
    def get(self):
        burn()
        Board().posts.append("x")
        self.write(str(len(Board().posts)))


class Borg:
    _shared: ClassVar[dict[str, object]] = {"n": 0}

    def __init__(self):
        self.__dict__ = self._shared


@writes()
class BorgState(RequestHandler):
    def get(self):
        borg = Borg()
        before = borg.n
        burn()
        borg.n = before + 1
        self.write(str(Borg().n))


_session = None


def get_session():
    global _session
    if _session is None:
        _session = types.SimpleNamespace(requests=0)
    return _session


@writes()
class SingletonByFunction(RequestHandler):
    def get(self):
        burn()
        get_session().requests += 1
        self.write(str(get_session().requests))
