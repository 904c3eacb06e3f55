"""Objects of the program's own classes, changed by methods and properties."""

from __future__ import annotations

import collections.abc
import contextlib
import threading

from tornado.web import RequestHandler

from tests.shapes.shape import burn, writes


class Player:
    def __init__(self, name):
        self.name = name
        self.score = 0
        self.hand = []
        self.friends = {self.name: self}


class Game:
    def __init__(self):
        self.players = [Player("ann"), Player("bob")]
        self.board = [[0] * 3 for _ in range(3)]
        self.turn = 0
        self.winner = None
        for player in self.players:
            player.game = self

    def play(self):
        player = self.players[self.turn % 2]
        self.turn += 1
        self.board[self.turn % 3][0] += 1
        player.score += self.board[self.turn % 3][0]
        return f"{player.name} {player.score}"

    def deal(self):
        for player in self.players:
            player.hand.append(len(player.hand))
        return len(self.players[0].hand)


game, second, third, fourth = Game(), Game(), Game(), Game()
games = {"a": Game()}


@writes(total=lambda: game.turn)
class ObjectMethod(RequestHandler):
    def get(self):
        burn()
        self.write(game.play())


@writes()
class ObjectsInList(RequestHandler):
    def get(self):
        burn()
        self.write(str(second.deal()))


@writes()
class NestedAttribute(RequestHandler):
    def get(self):
        burn()
        third.players[0].friends["ann"].score += 1
        self.write(str(third.players[0].score))


@writes()
class AroundCycle(RequestHandler):
    def get(self):
        burn()
        fourth.players[1].game.players[0].game.turn += 1
        self.write(str(fourth.turn))


@writes()
class ObjectInDict(RequestHandler):
    def get(self):
        burn()
        self.write(games.get("a").play())


@writes()
class DictOfObject(RequestHandler):
    def get(self):
        burn()
        attributes = vars(games["a"])
        attributes["rounds"] = attributes.get("rounds", 0) + 1
        self.write(str(games["a"].rounds))


class Account:
    def __init__(self):
        self._balance = 0
        self.reads = 0

    @property
    def balance(self):
        self.reads += 1
        return self._balance

    @balance.setter
    def balance(self, value):
        self._balance = value


account, watched = Account(), Account()


@writes()
class PropertySetter(RequestHandler):
    def get(self):
        burn()
        account.balance = account.balance + 10
        self.write(str(account.balance))


@writes()
class PropertyGetter(RequestHandler):
    def get(self):
        burn()
        self.write(f"{watched.balance} {watched.reads}")


class Counted:
    def __set_name__(self, owner, name):
        self.values = {}

    def __get__(self, instance, owner=None):
        return self.values.get("it", 0)

    def __set__(self, instance, value):
        self.values["it"] = value


class Meter:
    level = Counted()


meter = Meter()


@writes()
class Descriptor(RequestHandler):
    def get(self):
        burn()
        meter.level += 1
        self.write(str(meter.level))


class Audited:
    def __init__(self):
        self.__dict__["changes"] = 0

    def __setattr__(self, name, value):
        self.__dict__["changes"] += 1
        self.__dict__[name] = value


audited = Audited()


@writes()
class SetattrMethod(RequestHandler):
    def get(self):
        burn()
        audited.colour = "red"
        self.write(str(audited.changes))


class Wrapper:
    def __init__(self, inner):
        self._inner = inner

    def __getattr__(self, name):
        return getattr(self.__dict__["_inner"], name)


wrapped = Wrapper([])


@writes()
class Delegating(RequestHandler):
    def get(self):
        burn()
        wrapped.append(1)
        self.write(str(wrapped.__len__()))


class Caseless(collections.abc.MutableMapping):
    def __init__(self):
        self._data = {}

    def __getitem__(self, key):
        return self._data[key.lower()]

    def __setitem__(self, key, value):
        self._data[key.lower()] = value

    def __delitem__(self, key):
        del self._data[key.lower()]

    def __iter__(self):
        return iter(self._data)

    def __len__(self):
        return len(self._data)


class History(list):
    limit = 100


class Defaulting(dict):
    def __missing__(self, key):
        self[key] = []
        return self[key]


caseless, history, defaulting = Caseless(), History(), Defaulting()


@writes()
class MutableMappingMixin(RequestHandler):
    def get(self):
        burn()
        caseless.setdefault("A", 0)
        caseless["a"] += 1
        self.write(str(caseless["A"]))


@writes()
class ListSubclass(RequestHandler):
    def get(self):
        burn()
        history.append(1)
        self.write(str(len(history)))


@writes()
class DictMissing(RequestHandler):
    def get(self):
        burn()
        defaulting["x"].append(1)
        self.write(str(len(defaulting["x"])))


class Link:
    def __init__(self, value, following=None):
        self.value = value
        self.following = following


first = Link(0)


@writes()
class LinkedList(RequestHandler):
    def get(self):
        burn()
        link = first
        while link.following is not None:
            link = link.following
        link.following = Link(link.value + 1)
        self.write(str(link.following.value))


class LockedCounter:
    def __init__(self):
        self.lock = threading.Lock()
        self.n = 0

    def increment(self):
        with self.lock:
            self.n += 1
            return self.n


locked = LockedCounter()
lock = threading.RLock()
under_lock = {"n": 0}


@writes(total=lambda: locked.n)
class LockedObject(RequestHandler):
    def get(self):
        burn()
        self.write(str(locked.increment()))


@writes()
class UnderModuleLock(RequestHandler):
    def get(self):
        burn()
        with lock:
            under_lock["n"] += 1
            self.write(str(under_lock["n"]))


@contextlib.contextmanager
def counting():
    usage["active"] += 1
    yield usage
    usage["done"] += 1


usage = {"active": 0, "done": 0}


@writes()
class ContextManagerFunction(RequestHandler):
    def get(self):
        with counting() as now:
            burn()
        self.write(str(now))


class QuotaError(Exception):
    raised = 0

    def __init__(self):
        super().__init__("too much")
        QuotaError.raised += 1


@writes()
class ExceptionCounts(RequestHandler):
    def get(self):
        burn()
        try:
            raise QuotaError
        except QuotaError as error:
            self.write(f"{error} {error.raised}")


known_error = ValueError("known")


@writes()
class ExceptionArgs(RequestHandler):
    def get(self):
        burn()
        known_error.args = (*known_error.args, 1)
        self.write(str(len(known_error.args)))


class Cell:
    def __init__(self):
        self.versions = ()


cell = Cell()


@writes()
class ImmutableInAttribute(RequestHandler):
    def get(self):
        burn()
        cell.versions = (*cell.versions, 1)
        self.write(str(len(cell.versions)))


class Proxied:
    __slots__ = ("__weakref__", "_rows")

    def __init__(self):
        object.__setattr__(self, "_rows", [])

    def __getattribute__(self, name):
        rows = object.__getattribute__(self, "_rows")
        rows.append(name)
        return len(rows)


proxied = Proxied()


@writes()
class GetattributeMethod(RequestHandler):
    def get(self):
        burn()
        self.write(str(proxied.anything))
