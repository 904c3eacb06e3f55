"""Small programs over plain state, put together at random, as texts."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from hypothesis import strategies as st

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hypothesis.strategies import SearchStrategy

__all__ = ["LEFT", "SHARED", "program_of", "programs", "requests"]

_HEAD = """
import collections.abc
import contextlib
import copy
import dataclasses
import functools
import itertools
import json
import operator
import sys
import typing

import tornado.ioloop
import tornado.web

items = []
table = {}
nested = {"rows": [[0, 0], [1, 1]], "tags": {"a"}}
groups = collections.defaultdict(list)
things = {}
number = 0
newest = None
latest = collections.deque(maxlen=3)


class Thing:
    made = 0

    def __init__(self, name, owner=None):
        Thing.made += 1
        self.name = name
        self.owner = owner
        self.parts = []
        self.count = 0

    def bump(self, by=1):
        self.count += by
        self.parts.append(self.count)
        return self.count

    def show(self):
        owner = None if self.owner is None else self.owner.name
        return [self.name, owner, self.parts, self.count, getattr(self, "note", "")]


class Special(Thing):
    def bump(self, by=2):
        self.last = str(by)
        return super().bump(by)


class Store:
    def __init__(self):
        self.kept = {}
        self.total = 0

    def add(self, key, value):
        self.total += 1
        self.kept.setdefault(key, []).append(value)
        return self.kept[key]


def remembered(key, cache={}):
    if key not in cache:
        cache[key] = [key, len(cache)]
    return cache[key]


def made(value):
    fresh = {"value": value, "inner": []}
    items.append(fresh)
    return fresh


def rows_of(what):
    return what["rows"]


def keep(key, what):
    table[key] = what


class Rule:
    def __init__(self):
        self.used = 0

    def apply(self, key, value):
        return [key, value]


class Counting(Rule):
    def apply(self, key, value):
        self.used += 1
        return [key, self.used]


class Listing(Rule):
    def apply(self, key, value):
        items.append(value)
        return [key, len(items)]


def add_up(key, value):
    global number
    number += value
    return number


def add_item(key, value):
    items.append(key)
    return len(items)


RULES = [Rule(), Counting(), Listing()]
COMMANDS = {"a": add_up, "b": add_item, "x": keep}


def shown(application, store):
    return {
        "items": items,
        "text": f"{items} {table!r} %s" % (nested["rows"],),
        "table": table,
        "rows": nested["rows"],
        "tags": sorted(nested["tags"]),
        "groups": {str(k): v for k, v in groups.items()},
        "things": {k: t.show() for k, t in things.items()},
        "number": number,
        "newest": newest,
        "latest": list(latest),
        "made": Thing.made,
        "rules": [rule.used for rule in RULES],
        "app": [application.total, application.seen],
        "store": [store.total, store.kept],
    }


class Application(tornado.web.Application):
    def __init__(self, routes):
        self.total = 0
        self.seen = []
        super().__init__(routes)


class Base(tornado.web.RequestHandler):
    hits = 0
    log = []

    def initialize(self, store):
        self.store = store

    def prepare(self):
        self.k = self.get_argument("k")
        self.v = int(self.get_argument("v"))

    def answer(self, *more):
        more = [type(self).hits, self.log, *more]
        state = [shown(self.application, self.store), more]
        self.write(json.dumps(state, sort_keys=True, default=str))
"""

_TAIL = """
store = Store()
routes = [("/h%d" % n, cls, {"store": store}) for n, cls in enumerate(HANDLERS)]
server = Application(routes)
listening = tornado.httpserver.HTTPServer(server)
sockets = tornado.netutil.bind_sockets(int(sys.argv[1]), "127.0.0.1")
listening.add_sockets(sockets)
print("port", sockets[0].getsockname()[1], flush=True)
tornado.ioloop.IOLoop.current().start()
"""

SHARED = (
    "items.append(v)",
    "items.append({'v': v, 'w': [k]})",
    "items.insert(0, k)",
    "if items: more.append(items.pop())",
    "items = items[-4:]",
    "items += [v]",
    "items[:] = [one for one in items if one != v]",
    "items.sort(key=str)",
    "if items: items[-1] = (k, v)",
    "x = {'in': []}; table[k] = x; x['in'].append(v)",
    "x = [v]; items.append(x); table[k] = x; x.append(k)",
    "x = [k]; y = {'x': x}; x.append(1); items.append(y); y['z'] = v; x.append(2)",
    "x = table.setdefault(k, [])\nif isinstance(x, list): x.append(v)",
    "x = table.get(k)\nif isinstance(x, dict): x.setdefault('in', []).append(k)",
    "table.pop(k, None)",
    "table[k] = [list(row) for row in nested['rows']]",
    "table = {**table, k: v}",
    "more.append(sorted(map(str, table)))",
    "nested['rows'][v % 2][0] += v",
    "nested['rows'].append([v, len(items)])",
    "nested['tags'].add(k)",
    "nested['tags'] ^= {k, 'b'}",
    "groups[k].append(v)",
    "groups[v].append(items[-1:] )",
    "number += v",
    "number, newest = v, k",
    "newest = k if newest is None else newest + k[:1]",
    "newest = made(v); newest['inner'].append(k)",
    "x = made(v); x['inner'].append(len(items)); more.append(x)",
    "latest.append(k)",
    "latest.appendleft([v])",
    "things[k] = Thing(k)",
    "things[k] = Special(k, things.get('a'))",
    "if k in things: more.append(things[k].bump())",
    "for one in things.values(): one.bump(v)",
    "if k in things: things[k].note = [v]; things[k].note.append(k)",
    "if k in things: things[k].parts = [v]",
    "x = Thing(k); things['x'] = x; x.parts.append(v); x.owner = things.get(k)",
    "if k in things: del things[k]",
    "more.append([one.name for one in things.values() if type(one) is Special])",
    "self.application.seen.append(k)",
    "self.store.add(k, v)",
    "x = self.store.add(k, [v]); x.append(k)",
    "self.store.total = len(self.store.kept)",
    "more.append(remembered(k))",
    "remembered(k).append(v)",
    "Base.hits = Base.hits + v",
    "self.log.append(k)",
    "self.log.append(items[-1] if items else None)",
    "more.append(len(table)); more.append(bool(items)); more.append(items == [v])",
    "if v == 3: raise tornado.web.HTTPError(418)",
    "if v == 4: raise ValueError(k)",
    "a = b = [v]; items.append(a); b.append(k)",
    "x = items; x.append(k)",
    "for one in list(items):\n    if one == k: items.remove(one)",
    "more += [str(table), repr(items[-1:]), '%s' % latest]",
    "x = [v]; newest = x; x.append(k)",
    "items += [nested['rows'][v % 2]]",
    "for one in items:\n    if isinstance(one, list): one.append(v)",
    "x, y = nested['rows'], k; table[y] = x; x.append([v])",
    "keep(k, rows_of(nested)[0])",
    "x = []; x.append(nested['rows']); table[k] = x; nested['rows'].append([k])",
    "for one in nested['rows']:\n    if one == [0, 0]: nested['rows'].append([v])",
    "if k in things: things[k].parts = nested['rows']",
    "for one in items:\n    if one == k: items.remove(one)",
    "for x in reversed(items):\n    more.append(x)\n    if len(items) > 3: items.pop()",
    "for i, one in enumerate(items):\n    if i + 1 < len(items): items[i + 1] = one",
    "for x, y in table.items():\n    table[k if k in table else x] = v; more.append(y)",
    "for one in table:\n    if one == k: del table[one]",
    "for one in latest:\n    if one == k: latest.append(v)",
    "for one in nested['tags']:\n    if one == k: nested['tags'].discard(one)",
    "more.append([rule.apply(k, v) for rule in RULES])",
    "for n, rule in enumerate(RULES): more.append([n, rule.apply(k, v)])",
    "rule = RULES[v % 3]; more.append(rule.apply(k, v))",
    "more.append(COMMANDS[k](k, v))",
    "command = COMMANDS.get(k, add_up); more.append(command(k, v))",
    "x = [v]; f = {'m': keep}; f['m'](k, {'a': x}); x.append(k)",
    "x = [v]; f = functools.partial(made, x); f(); x.append(k)",
    "more.append(made); x = [v]; more.pop()(x); x.append(k)",
    "for kind in (Thing, Special): things[kind.__name__] = kind(k)",
    "x = [Thing(k), Special(k)]; x.append(Thing('z')); more += [y.bump(v) for y in x]",
    "x = {k: Special(k)}; x.setdefault('z', Thing(k)).bump(v); more += x[k].show()",
    "x = things.get(k) or Special(k); more.append(x.bump(v))",
    "x = Thing(k) if v % 2 else Special(k); things[k] = x; x.bump(v)",
    "if things: more.append(max(things.values(), key=lambda one: one.count).show())",
    "match items:\n    case [x, *y]: more += [x, y]\n    case []: more.append('none')",
    "match table:\n    case {'a': x, **y}: more += [x, y]",
    # Several things are assigned at once.
    "x = []; table[k], n = x, v; x.append(n)",
    "x, y = [k], {'v': v}; items.append(x); x.append(y); y['z'] = k",
    "x = [v]; y = (x, k); table[k], z = y; x.append(z)",
    "(x, *y), z = [k, v], []; items.append(z); z += [x, *y]",
    "if items: items[0], items[-1] = items[-1], items[0]; items[0] = [items[0]]",
    "table[k], table['b'] = table.get('b', v), table.get(k, 0)",
    "x = y = [k]; table[k], z = x, v; y.append(z); more.append(table[k])",
    # What was stored is added to.
    "x = [k]; items.append(x); x += [v]",
    "x = {'a': v}; table[k] = x; x |= {'b': k}; more.append(x)",
    "x = []; y = x; items.append(x); y += [k]; more.append(x)",
    "x = [k]; table[k] = {'in': x}; x *= 2",
    "x = nested['rows']; x += [[v, v]]",
    # One object has several names.
    "items.append(x := [k]); x.append(v)",
    "x = [k]; y = [v]; items.append(x if v % 2 else y); x.append(1); y.append(2)",
    "x = [k]; f = lambda: x.append(v); items.append(x); f()",
    "x = [k]; table.update({k: x}); x.append(v)",
    "x = [k]; table.update(a=x); x.append(v)",
    "x = [k]; items.extend([x]); x.append(v)",
    "x = [k]; items += [x]; x.append(v)",
    "x = [k]; items[0:0] = [x]; x.append(v)",
    "x = [k]; table |= {k: x}; x.append(v)",
    "x = [k]; items = items + [x]; x.append(v)",
    "x = [k]; keep(k, x); x.append(v)",
    "x = {'in': []}; y = x['in']; items.append(x); y.append(v)",
    "x = [k]; y = [items.append(x) for _ in 'a']; x.append(v); more.append(y)",
    "x = [k]; table.update({n: x for n in 'ab'}); x.append(v)",
    "x = [k]; items.append((x, v)); x.append(v)",
    "x = [k]; items.append([x]); x.append(v)",
    "x = [k]; items.extend((x,)); x.append(v)",
    "x = [k, v]; items.insert(0, x); del x[:]",
    "x = [k, v]; items.insert(0, x); x.clear(); x.append(k)",
    "x = [v, 2, 1]; table[k] = x; x.sort(); x.reverse()",
    "x = [v, 2, 1]; table[k] = x; x[0] = k",
    "x = Thing(k); x.parts = y = []; things[k] = x; y.append(v)",
    "x = [k]; table.update(dict([(k, x)])); x.append(v)",
    "x = table.get('q', []); table['q'] = x; x.append(v)",
    "x = table.pop('q', [v]); x.append(k); table['q'] = x; x.append(v)",
    "x = [i for i in (k, v)]; items.append(x); x.append(v)",
    "x = [k]; items.append(x); y = items[-1]; y.append(v); x.append(k)",
    "newest = x = {'n': v}; x['m'] = k",
    "x = {'n': v}; newest = x; newest['m'] = k; x['o'] = v",
    "x = [k]; latest.append(x); x.append(v)",
    "x = [k]; groups[k].append(x); x.append(v)",
    "x = groups[k]; x.append(v); groups['b'] = x; x.append(k)",
    "x = {}; things.setdefault(k, Thing(k)).parts.append(x); x['v'] = v",
    "x = [k]; self.store.add(k, x); x.append(v)",
    "x = [k]; self.application.seen.append(x); x.append(v)",
    "x = [k]; type(self).log.append(x); x.append(v)",
    "x = [k]; y = Thing(k); y.parts.append(x); things[k] = y; x.append(v)",
    "x = list(nested['rows']); nested['rows'].append([v]); x.append(1); more.append(x)",
    "x = nested['rows'][0]; nested['rows'].append(x); x.append(v)",
    "x = [[]] * 2; items.append(x); x[0].append(v)",
    "x = {'a': [v]}; y = dict(x); table[k] = y; x['a'].append(k)",
    "x = {'a': [v]}; table[k] = x.copy(); x['a'].append(k)",
    "import copy; x = {'a': [v]}; table[k] = copy.deepcopy(x); x['a'].append(k)",
    "x = {'a': [v]}; table[k] = {**x}; x['a'].append(k)",
    "x = [[v]]; table[k] = [*x]; x[0].append(k)",
    "x = [[v]]; table[k] = x[:]; x[0].append(k)",
    "x = [[v]]; table[k] = x + [k]; x[0].append(k)",
    "x = [[v]]; table[k] = sorted(x); x[0].append(k)",
    "x = [[v]]; table[k] = list(map(list, x)); x[0].append(k)",
    "x = [[v]]; table[k] = tuple(x); x[0].append(k)",
    "x = [v]; table[k] = {'x': (x, [x])}; x.append(k)",
    "x = [v]; y = {'x': x}; z = [y]; table[k] = z; y['k'] = k; x.append(v)",
    "for x in ([k], [v]): items.append(x); x.append(1)",
    "x = None; x = x or [k]; items.append(x); x.append(v)",
    "x = [k] if v else []; items.append(x); x.append(v)",
    "x = {}; x[k] = y = [v]; items.append(x); y.append(k)",
    "x = dict(a=[v]); y = x.get('a'); table[k] = x; y.append(k)",
    "x = dict(a=[v]); y = x.setdefault('b', []); table[k] = x; y.append(k)",
    "x = dict(a=[v]); table[k] = x; [y.append(k) for y in x.values()]",
    "x = dict(a=[v]); table[k] = x; list(map(lambda y: y.append(k), x.values()))",
    "x = [k]; items.append(x); del items[-1]; x.append(v); items.append(x)",
    "x = iter([[k]]); y = next(x); items.append(y); y.append(v)",
    "x = [k]; table[k] = x; table['z'] = x; x.append(v)",
    "x = [k]; table[k] = x; table['z'] = table[k]; table['z'].append(v)",
    "(x := [k]).append(v); items.append(x); x.append(k)",
    "x = [k]; import operator; items.append(x); operator.iadd(x, [v])",
    "x = [k]; y = {'x': x, 'v': v}; self.store.kept[k] = y; x.append(v); y['z'] = 1",
    "x = {'a': {'b': [v]}}; table[k] = x; x['a']['b'].append(k)",
    "x = {'a': {'b': [v]}}; y = x['a']; table[k] = x; y['b'].append(k); y['c'] = v",
    "x = [[k], [v]]; table[k] = x; [y for y in x][0].append(v)",
    "x = [[k], [v]]; table[k] = x; next(iter(x)).append(v)",
    "x = [[k], [v]]; table[k] = x; x[-1].extend([1, 2]); x.pop(0)",
    "x = [[k], [v]]; table[k] = x; y = max(x, key=len); y.append(v)",
    "x = [[k], [v]]; table[k] = x; y = min(x, key=str); y.append(v)",
    "x = {'a': [v]}; table[k] = x; y = list(x.values()); y[0].append(k)",
    "x = {'a': [v]}; table[k] = x; y, = x.values(); y.append(k)",
    "x = {'a': [v]}; table[k] = x; (_, y), = x.items(); y.append(k)",
    "x = {'a': [v]}; table[k] = x; y = x.pop('a'); y.append(k); more.append(x)",
    "x = {'a': [v]}; table[k] = x; x.popitem(); x['n'] = [k]",
    "x = dict.fromkeys('ab', [v]); table[k] = x; x['a'].append(k)",
    "x = [[v]] * 3; table[k] = x; x[0].append(k)",
    "x = list([[v]]); y = x + x; table[k] = y; x[0].append(k)",
    "x = [v]; y = [x for _ in range(2)]; table[k] = y; x.append(k)",
    "x = [v]; y = {n: x for n in 'ab'}; table[k] = y; x.append(k); y['c'] = 1",
    "x = [v]; y = {**{'x': x}}; table[k] = y; x.append(k)",
    "x = [v]; y = [*[x]]; table[k] = y; x.append(k)",
    "x = [v]; y = dict(x=x); table[k] = y; x.append(k)",
    "x = [v]; y = dict(zip('a', [x])); table[k] = y; x.append(k)",
    "x = [v]; y = list(enumerate([x])); table[k] = y; x.append(k)",
    "x = [v]; y = list(filter(None, [x])); table[k] = y; x.append(k)",
    "x = [v]; y = list(map(lambda z: z, [x])); table[k] = y; x.append(k)",
    "x = [v]; y = sorted([x, [0]]); table[k] = y; x.append(k)",
    "x = [v]; y = list(reversed([x])); table[k] = y; x.append(k)",
    "x = [v]; y = (lambda: x)(); table[k] = y; x.append(k)",
    "x = [v]; y = (lambda z: z)(x); table[k] = y; x.append(k)",
    "x = [v]; y = [None]; y[0] = x; table[k] = y; x.append(k)",
    "x = [v]; y = []; y.append(x); table[k] = y; x.append(k)",
    "x = [v]; y = []; y += [x]; table[k] = y; x.append(k)",
    "x = [v]; y = {}; y['a'] = x; table[k] = y; y['a'].append(k); x.append(k)",
    "x = [v]; y = {}; y.update(a=x); table[k] = y; x.append(k)",
    "x = [v]; y = {}; y.setdefault('a', x); table[k] = y; x.append(k)",
    "x = [v]; y = []; y.insert(0, x); table[k] = y; x.append(k)",
    "x = [v]; y = []; y.extend([x]); table[k] = y; x.append(k)",
    "x = [v]; y = collections.deque([x]); latest.extend(y); x.append(k)",
    "x = [v]; y = collections.OrderedDict(a=x); table[k] = y; x.append(k)",
    "x = collections.Counter('ab'); table[k] = x; x['a'] += v",
    "x = collections.defaultdict(list); table[k] = x; x[k].append(v)",
    "x = set('a'); nested['tags'] = x; x.add(k)",
    "x = {'a'}; y = x; nested['tags'] |= y; y.add(k); nested['tags'] -= {'a'}",
    "x = nested['tags']; x.add(k); y = x | {'q'}; nested['tags'] = y; y.add('w')",
    "x = Special(k); y = x.parts; things[k] = x; y.append(v); x.bump(v)",
    "x = Special(k); things[k] = x; y = things[k]; y.parts += [v]; x.note = 'n'",
    "x = Special(k); things[k] = x; x.__dict__['count'] = v; more.append(x.count)",
    "x = Special(k); x.parts = nested['rows']; things[k] = x; x.parts.append([v])",
    "x = Special(k); y = [x]; things.update({k: y[0]}); y[0].bump(v)",
    "x = things.get(k, Thing(k)); x.parts.append(v); things[k] = x; x.parts.append(k)",
    "x = items; x.append(v); y = items[:]; y.append(k); more.append(y)",
    "x = items; items = items + [v]; x.append(k); more.append(x)",
    "x = items; items = []; items.append(v); x.append(k); more.append(x)",
    "x = table; table = dict(table); table[k] = v; x['old'] = v; more.append(x)",
    "x = nested; x['rows'] = x['rows'] + [[v, 0]]; nested['rows'][0][0] = v",
    "x = nested['rows']; nested['rows'] = []; x.append([v, v]); more.append(x)",
    "x = nested.pop('rows'); x.append([v, v]); nested['rows'] = x; x.append([0, v])",
    "x = [r for r in nested['rows']]; x[0].append(v); more.append(len(x))",
    "x = nested['rows'][0]; x.append(v); nested['rows'][0] = [*x]; x.append(k)",
    "x = nested['rows']; x[0], x[1] = x[1], x[0]; x[0].append(v)",
    "for n, x in enumerate(nested['rows']): x.append(n); table[k] = x",
    "for x in nested['rows']: y = x; y.append(v); x = None",
    "for x in [[v], [k]]: y = {'x': x}; items.append(y); x.append(0); y['n'] = 1",
    "for n in range(2): x = [n]; items.append(x); x.append(v)",
    "x = []; [x.append(n) for n in range(v)]; items.append(x); x.append(k)",
    "x = [k]; items.append(x) if v else None; x.append(v)",
    "x = [k]; v and items.append(x); x.append(v)",
    "x = [k]; (items if v else more).append(x); x.append(v)",
    "x = [k]; items.__iadd__([x]); x.append(v)",
    "x = [k]; items.__setitem__(slice(0, 0), [x]); x.append(v)",
    "x = [k]; table.__setitem__(k, x); x.append(v)",
    "x = {}; table[k] = x; x.setdefault('a', []).append(v); x['a'].append(k)",
    "x = {}; table[k] = x; y = x.setdefault('a', []); y.append(v)",
    "y = groups[k]; y.append([v]); y[-1].append(k); groups['c'] = y; y.append(0)",
    "newest = [v]; newest.append(k); x = newest; x.append(1)",
    "newest = [v]; x = newest; newest = {'x': x}; x.append(k)",
    "x = [k]; newest = x; items.append(newest); x.append(v); newest.append(1)",
    "z = items; z.append([v]); z[-1].append(k)",
    # ... behind a function.
    "x = {'rows': [k]}; table[k] = rows_of(x); x['rows'].append(v)",
    "x = {'rows': [k]}; table[k] = x; rows_of(x).append(v)",
    "x = {'rows': [k]}; table[k] = x; y = rows_of(x); y.append(v)",
    "x = {'rows': [k]}; y = rows_of(x); table[k] = x; y.append(v)",
    "x = {'rows': [k]}; y = rows_of(x); table[k] = y; x['rows'].append(v); y.append(1)",
    # ... in an attribute of the handler.
    "x = [k]; self.p = x; items.append(self.p); x.append(v)",
    "x = [k]; self.p = {'x': x}; items.append(self.p); x.append(v)",
    "x = [k]; self.p = {'x': x}; self.q = [self.p]; table[k] = self.q; x.append(v)",
    # A comprehension has variables of its own.
    "x = [k]; y = {'x': x}; items.append(y); y['z'] = v; more.append([y for y in x])",
)
"""What a handler may do with the key `k`, the number `v` and the list `more`."""

LEFT = (
    "self.application.total += v",
    "self.application.seen = self.application.seen[-2:]",
    "type(self).hits += 1",
    "x = dict(k=k, rows=nested['rows']); table[k] = x; x['k'] = v",
    "newest = nested['rows']; newest.append([v])",
    "items.append(nested['rows'])",
    "for row in nested['rows']: items.append(row)",
    "table.update({str(i): row for i, row in enumerate(nested['rows'])})",
    "x = table.setdefault(k, nested['rows'])\nif isinstance(x, list): x.append([v])",
    "table[k] = sorted(nested['rows'], key=str)[-1]; table[k].append(v)",
    "table[k] = rows_of(nested); table[k].append([k])",
    "for one in nested['rows']:\n    if len(nested['rows']) < 4: items.append(one)",
    "if k in things: items.append(things[k].parts); things[k].parts.append(v)",
    "self.application.seen = nested['rows']; self.application.seen.append([k])",
    "self.store.kept[k] = nested['rows']",
    "Base.log = nested['rows']; Base.log.append([v])",
    "groups[k] = nested['rows']; groups[k].append([k])",
    "latest.append(nested['rows']); latest[-1].append([v])",
    "remembered(k).append(nested['rows'])",
    "x = [[k], [v]]; y, z = x; items.append(y); y.append(1); z.append(2)",
    "x = [k]; z = [x.append]; items.append(x); z[0](v)",
    "x = [k]; z = x.append; items.append(x); z(v)",
    "x = [k]; items.append(x); list.append(x, v)",
    "x = {'a': v}; items.append(x); dict.update(x, b=k)",
)
"""The same, where something stays plain, and with it all verbs that use it."""

_GLOBALS = "items, table, nested, groups, things, number, newest, latest"


def programs() -> SearchStrategy[str]:
    """Return programs of some handlers, each of some parts."""
    bodies = st.lists(st.sampled_from(SHARED + LEFT), min_size=1, max_size=5)
    return st.lists(bodies, min_size=2, max_size=4).map(program_of)


def requests() -> SearchStrategy[list[tuple[int, str, int]]]:
    """Return requests: the handler's number, the key and the number."""
    one = st.tuples(st.integers(0, 3), st.sampled_from("abx"), st.integers(0, 4))
    return st.lists(one, min_size=6, max_size=14)


def program_of(bodies: list[list[str]], definitions: Sequence[str] = ()) -> str:
    """Return the text of a program whose handlers do these things.

    Args:
        bodies: What each handler does.
        definitions: What they use of the module, beside what there is in any case.
    """
    parts = ["\n\n".join([_HEAD, *definitions])]
    for number, body in enumerate(bodies):
        lines = [f"global {_used(body)}"] if _used(body) else []
        lines += ["k, v, more = self.k, self.v, []"]
        lines += [line for part in body for line in part.split("\n")]
        lines += ["self.answer(*more)"]
        code = textwrap.indent("\n".join(lines), "        ")
        parts.append(f"\n\nclass H{number}(Base):\n    def get(self):\n{code}\n")
    names = ", ".join(f"H{number}" for number in range(len(bodies)))
    return "".join([*parts, f"\n\nHANDLERS = ({names},)\n", _TAIL])


def _used(body: list[str]) -> str:
    """Return the names that a body binds again."""
    text = "\n".join(body)
    found = [
        name
        for name in _GLOBALS.split(", ")
        if any(
            f"{name}{sign}" in text for sign in (" = ", " += ", " |= ", ", newest =")
        )
        and text != f"x = {name}"
    ]
    return ", ".join(found)
