"""What the functions of small programs do with what they are given.

Each shape is definitions, if there are any, and what a handler does with them.
"""

from __future__ import annotations

import ast
import re
from typing import NamedTuple

__all__ = ["Shape", "shapes"]

_TEXT = r"""
PAIR = ([], [])
def get(): return PAIR
--
p = get(); items.append(p); p[0].append(k); more.append([list(x) for x in PAIR])
==
a = []
def get(): return (a, 1)
--
x, n = get(); items.append(x); x.append(k); more.append(a)
==
P = collections.namedtuple('P', 'a b')
--
p = P([k], 1); table[k] = p; q = p._replace(b=2); q.a.append(v); items.append(q)
p.a.append(3)
==
class P(typing.NamedTuple):
    x: int
    tags: list
    def tag(self, t): self.tags.append(t); return self
ps = {}
--
p = ps.setdefault(k, P(v, [])); p.tag(v); ps['z'] = p; p.tag(k); more.append(ps)
==
class Q:
    def __init__(self): self.q = []
    def put(self, x): self.q.append(x)
    def drain(self):
        out, self.q = self.q, []
        return out
q = Q()
--
x = [k]; q.put(x); q.put(x); x.append(v)
for y in q.drain(): items.append(y); y.append(1)
==
class Obs:
    def __init__(self): self.f = []; self.seen = []
    def sub(self, f): self.f.append(f); return lambda: self.f.remove(f)
    def fire(self, x):
        for f in list(self.f): f(self, x)
obs = Obs()
obs.sub(lambda o, x: o.seen.append(x))
--
x = {'k': k}; obs.fire(x); x['v'] = v; more.append(obs.seen)
==
def memo(f):
    cache = {}
    @functools.wraps(f)
    def inner(n):
        if n not in cache: cache[n] = f(n)
        return cache[n]
    inner.cache = cache
    return inner
@memo
def rows(n): return [n]
--
r = rows(k); r.append(v); items.append(r); rows(k).append(1); more.append(rows(k))
==
@functools.lru_cache(None)
def rows(n): return [n]
--
r = rows(k); r.append(v); items.append(r); rows(k).append(1); more.append(rows(k))
==
def group(rows):
    out = {}
    for r in rows: out.setdefault(r[0], []).append(r)
    return out
--
rows = [[k, v], ['z', 1]]; g = group(rows); table.update(g); rows[0].append(5)
g[k].append(6)
==
class M(collections.abc.MutableMapping):
    def __init__(self): self.d = {}
    def __getitem__(self, n): return self.d[n]
    def __setitem__(self, n, x): self.d[n] = x
    def __delitem__(self, n): del self.d[n]
    def __iter__(self): return iter(self.d)
    def __len__(self): return len(self.d)
m = M()
--
x = [k]; m[k] = x; x.append(v); m.setdefault('z', []).append(v); m.update(q=x)
x.append(1); more.append(dict(m))
==
class Keep:
    @staticmethod
    def add(name, x):
        items.append(x)
--
x = [k]; Keep.add(k, x); x.append(v)
==
class Keep:
    @staticmethod
    def add(name, x):
        items.append(x); x.append(name)
--
Keep.add(k, [v])
==
class Keep:
    @classmethod
    def add(cls, name, x):
        items.append(x); x.append(name)
--
Keep.add(k, [v])
==
class A:
    def __init__(self, x): self.x = x
    def show(self): return [self.x]
class B(A):
    def __init__(self, x): super().__init__(x)
--
x = [k]; things[k] = B(x); x.append(v)
==
class A:
    def __init__(self, x): self.x = x
    def show(self): return [self.x]
class B(A):
    def __init__(self, x): A.__init__(self, x)
--
x = [k]; things[k] = B(x); x.append(v)
==
class A:
    def __init__(self, x): self.x = x
    def show(self): return [self.x]
class B(A):
    pass
--
x = [k]; things[k] = B(x); x.append(v)
==
class A:
    def __init__(self, x): self.x = x; x.append(1)
    def show(self): return [self.x]
class B(A):
    def __init__(self, x): super().__init__(x)
things['q'] = A(items)
--
things[k] = B([k])
==
class Keep:
    def add(self, x): items.append(x)
keep = Keep()
--
x = [k]; Keep.add(keep, x); x.append(v)
==
class Keep:
    def add(self, x): items.append(x)
    put = add
keep = Keep()
--
x = [k]; keep.put(x); x.append(v)
==
class Keep:
    def __setitem__(self, key, x): table[key] = x
keep = Keep()
--
x = [k]; keep[k] = x; x.append(v)
==
class Keep:
    def __call__(self, x): items.append(x)
keep = Keep()
--
x = [k]; keep(x); x.append(v)
==
class Keep:
    def __lshift__(self, x): items.append(x); return self
keep = Keep()
--
x = [k]; keep << x; x.append(v)
==
class Keep:
    def __iadd__(self, x): items.append(x); return self
keep = Keep()
--
global keep
x = [k]; keep += x; x.append(v)
==
class Keep:
    @property
    def last(self): return items[-1] if items else None
    @last.setter
    def last(self, x): items.append(x)
keep = Keep()
--
x = [k]; keep.last = x; x.append(v); more.append(keep.last)
==
def keep(x, tags=[]): items.append(tags); tags.append(x)
--
keep(k)
==
def keep(*xs): items.extend(xs)
--
x = [k]; keep(x, [v]); x.append(v)
==
def keep(**xs): table.update(xs)
--
x = [k]; keep(a=x); x.append(v)
==
def keep(key, **xs): table[key] = xs; xs['z'] = key
--
keep(k, a=v)
==
def keep(key, *xs): table[key] = list(xs)
--
x = [k]; keep(k, x); x.append(v)
==
keep = functools.partial(items.append)
--
x = [k]; keep(x); x.append(v)
==
keep = items.append
--
x = [k]; keep(x); x.append(v)
==
def adder(into):
    def add(x): into.append(x)
    return add
keep = adder(items)
--
x = [k]; keep(x); x.append(v)
==
keep = lambda x: items.append(x)
--
x = [k]; keep(x); x.append(v)
==
def logged(f):
    @functools.wraps(f)
    def inner(*a, **kw): return f(*a, **kw)
    return inner
@logged
def keep(x): items.append(x)
--
x = [k]; keep(x); x.append(v)
==
def rows(x):
    yield x
    yield [1]
--
x = [k]; items.extend(rows(x)); x.append(v)
==
def twice(x): return x, x
--
x = [k]; a, b = twice(x); items.append(a); b.append(v)
==
def same(x): return x
--
x = [k]; items.append(same(x)); x.append(v)
==
def same(x): return [x]
--
x = [k]; items.append(same(x)); x.append(v)
==
def same(x): return {'x': x}
--
x = [k]; table[k] = same(x); x.append(v)
==
def first(x): return x[0]
--
x = [[k]]; items.append(first(x)); x[0].append(v)
==
class A:
    def __init__(self): self.x = []
    def get(self): return self.x
    def show(self): return [self.x]
--
a = A(); things[k] = a; a.get().append(v)
==
class A:
    def __init__(self): self.x = []
    def get(self): return self.x
    def show(self): return [self.x]
--
a = A(); things[k] = a; y = a.get(); y.append(v); y += [1]; items.append(y); y.append(k)
==
class A:
    def __init__(self): self.x = {}
    def __getitem__(self, n): return self.x.setdefault(n, [])
    def show(self): return [self.x]
--
a = things.setdefault(k, A()); a[v].append(k); items.append(a[v]); a[v].append('z')
==
class A:
    def __init__(self): self.x = []
    def add(self, y): self.x.append(y); return self
    def show(self): return [self.x]
--
y = [k]; things[k] = A().add(y).add(y); y.append(v)
==
class A:
    def __init__(self, **kw): self.__dict__.update(kw)
    def show(self): return [self.x]
--
y = [k]; things[k] = A(x=y); y.append(v)
==
class A:
    def __init__(self, **kw):
        for n, one in kw.items(): setattr(self, n, one)
    def show(self): return [self.x]
--
y = [k]; things[k] = A(x=y); y.append(v)
==
class A:
    x = None
    def show(self): return [self.x]
--
a = A(); a.x = y = [k]; things[k] = a; y.append(v); a.x.append(1)
==
class A:
    x = []
    def show(self): return [self.x]
--
a = A(); things[k] = a; a.x.append(v); A.x.append(k)
==
Pair = collections.namedtuple('Pair', 'a b')
--
x = [k]; items.append(Pair(x, v)); x.append(v)
==
Pair = collections.namedtuple('Pair', 'a b')
--
p = Pair([k], v); items.append(p); p.a.append(v)
==
@dataclasses.dataclass
class P:
    x: list
    y: dict = dataclasses.field(default_factory=dict)
    def show(self): return [self.x, self.y]
--
x = [k]; p = P(x); things[k] = p; x.append(v); p.y[k] = x; x.append(1)
==
@dataclasses.dataclass
class P:
    x: list
    def show(self): return [self.x]
--
p = P([k]); things[k] = p; q = dataclasses.replace(p); q.x.append(v)
items.append(dataclasses.asdict(p)); p.x.append(2)
==
@dataclasses.dataclass(frozen=True)
class P:
    x: list
    def show(self): return [self.x]
--
x = [k]; p = P(x); things[k] = p; x.append(v)
==
def put(where, key, x): where[key] = x
--
x = [k]; put(table, k, x); x.append(v)
==
def put(where, x): where.append(x)
--
x = [k]; put(items, x); x.append(v)
==
def swap(a, b): a[:], b[:] = b[:], a[:]
--
x = [k]; y = [v]; items.append(x); items.append(y); swap(x, y); x.append(0)
==
def merge(a, b): a.update(b); return a
--
x = {'n': [v]}; table[k] = x; merge(x, {'z': 1}); x['n'].append(3)
==
def merge(a, b): return {**a, **b}
--
x = {'n': [v]}; table[k] = merge(x, {'z': 1}); x['n'].append(3)
==
Pair = collections.namedtuple('Pair', 'a b')
--
p = Pair([k], v); items.append(p); p.a.append(v)
==
def make(n): return [n], n
--
p = make(k); items.append(p); p[0].append(v)
==
def make(n): return [n], n
--
a, b = make(k); items.append(a); a.append(v)
==
class P(typing.NamedTuple):
    a: list
    b: int = 3
--
p = P([k]); items.append(p); p.a.append(v)
==
class P(typing.NamedTuple):
    a: list
    def add(self, x): self.a.append(x); return self
--
x = [k]; p = P(x); items.append(p); p.add(v); x.append(1)
==
class P(typing.NamedTuple):
    a: list
    def add(self, x): self.a.append(x); return self
--
x = [k]; p = P(a=x)._replace(a=x); items.append(p); p.add(v); x.append(1)
==
ops = {'add': lambda x: items.append(x), 'put': items.append}
--
x = [k]; ops['add'](x); x.append(v)
==
ops = {'add': lambda x: items.append(x), 'put': items.append}
--
x = [k]; ops['put'](x); x.append(v)
==
def add(x): items.append(x)
ops = [add]
--
x = [k]
for op in ops: op(x)
x.append(v)
==
def add(x): items.append(x)
def run(f, x): f(x)
--
x = [k]; run(add, x); x.append(v)
==
def add(x): items.append(x)
def run(f, *a): return f(*a)
--
x = [k]; run(add, x); x.append(v)
==
def add(x): items.append(x)
--
x = [k]; list(map(add, [x])); x.append(v)
==
class K:
    hooks = []
    def hook(self, f): self.hooks.append(f); return f
    def fire(self, x):
        for f in self.hooks: f(x)
bus = K()
@bus.hook
def on(x): items.append(x)
--
x = [k]; bus.fire(x); x.append(v)
==
class K:
    def __init__(self): self.x = []
    def __enter__(self): return self.x
    def __exit__(self, *a): items.append(self.x)
--
with K() as x: x.append(v)
x.append(k)
==
@contextlib.contextmanager
def row():
    x = []
    yield x
    items.append(x)
--
with row() as x: x.append(v)
x.append(k)
==
class K:
    def __init__(self): self.x = None
    def __setattr__(self, n, x): items.append(x); object.__setattr__(self, n, x)
kk = K()
--
x = [k]; kk.x = x; x.append(v)
==
class D:
    def __get__(self, o, t): return items[-1] if items else None
    def __set__(self, o, x): items.append(x)
class K:
    d = D()
kk = K()
--
x = [k]; kk.d = x; x.append(v)
==
class L(list):
    pass
--
x = L([k]); items.append(x); x.append(v)
==
class L(list):
    def add(self, x): self.append(x); return self
rows = L()
--
x = [k]; rows.add(x); x.append(v); more.append(list(rows))
==
class D(dict):
    def put(self, n, x): self[n] = x
rows = D()
--
x = [k]; rows.put(k, x); x.append(v); more.append(dict(rows))
==
class S:
    rows = []
    @classmethod
    def add(cls, x): cls.rows.append(x)
--
x = [k]; S.add(x); x.append(v); more.append(S.rows)
==
class S:
    def __init__(self): self.rows = []
    def add(self, x): self.rows.append(x)
    @property
    def all(self): return self.rows
s = S()
--
x = [k]; s.all.append(x); x.append(v); more.append(s.rows)
==
class Node:
    def __init__(self, v, next=None): self.v = v; self.next = next; self.tags = []
    def show(self): return [self.v, self.tags, self.next.v if self.next else None]
--
n = None
for i in range(v + 1): n = Node([i], n)
things[k] = n; n.v.append('z'); n.next.v.append('y'); n.next.tags.append(1)
more.append(n.next.show())
==
class Node:
    def __init__(self, parent=None):
        self.kids = []
        self.parent = parent
        if parent: parent.kids.append(self)
    def show(self): return [len(self.kids), self.parent is not None]
--
root = things.setdefault('root', Node()); n = Node(root); Node(n)
more.append(root.kids[-1] is n); more.append([len(c.kids) for c in root.kids])
==
def build(n, acc):
    if n: acc.append([n]); build(n - 1, acc)
    return acc
--
x = build(3, []); table[k] = x; x.append(v); x[0].append(v)
==
def fill(x):
    x['a'] = y = []
    return y
--
x = {}; table[k] = x; y = fill(x); y.append(v)
==
def pairs():
    return [([k], [v]) for k, v in [(1, 2)]]
--
for a, b in pairs(): items.append(a); a.append(v); table[k] = b; b.append(k)
==
p = ([k], v); items.append(p); p[0].append(v)
==
p = ([k], v); items.append(p); a, b = p; a.append(v)
==
a = [k]; p = (a, v); items.append(p); a.append(v); p[0].append(1)
==
x = [k]; list(map(items.append, [x])); x.append(v)
==
x = [k]; [items.append(y) for y in [x]]; x.append(v)
==
x = [k]; getattr(items, 'append')(x); x.append(v)
==
rows = [[k], [v]]; items.extend(rows); rows[0].append(v); rows.append([1])
==
rows = [[k], [v]]; items[:] = rows; rows[0].append(v)
==
a, *b = [k], [v], [1]; items.append(b); b.append(2); b[0].append(3); table[k] = a
a.append(v)
==
x = y = [k]; items.append(x); y.append(v)
==
x = {**{'a': [k]}}; table[k] = x; x['a'].append(v)
==
x = copy.copy([[k]]); items.append(x); x[0].append(v)
==
x = [k]; items.append(x) if v % 2 else table.update({k: x}); x.append(v)
==
x = [k]
try:
    items.append(x); raise ValueError
except ValueError: x.append(v)
finally: x.append(0)
==
x = [k]
while len(x) < 4: items.append(x); x.append(v)
==
def inner(): items.append(x)
x = [k]; inner(); x.append(v)
==
def inner(y): y.append(v)
x = [k]; items.append(x); inner(x)
==
f = items.append
x = [k]; f(x); x.append(v)
==
x = [k]; (items.append)(x); x.append(v)
==
x = [k]; list.append(items, x); x.append(v)
==
x = [k]; operator.setitem(table, k, x); x.append(v)
y = [v]; operator.iadd(items, [y]); y.append(k)
==
x = [k]; dict.__setitem__(table, k, x); x.append(v)
==
x = [k]; table.__setitem__(k, x); x.append(v)
==
x = [k]; setattr(self, 'z', x); items.append(self.z); x.append(v); self.z.append(1)
==
self.x = [k]; items.append(self.x); self.x.append(v)
==
def parsed(k): return {'row': {'k': [k]}, 'n': 1}
def put(row): x = {}; x['k'] = row['k']; items.append(x); x['k'].append(1); return row
--
whole = parsed(k); row = whole['row']; put(row); row['k'].append(v); more.append(whole)
==
def parsed(k): return json.loads('{"row": {"tags": ["%s"]}, "rows": [[1], [2]]}' % k)
def put(row, rows):
    x = {'tags': row['tags'], 'rows': rows}
    items.append(x); row['tags'].append('z'); rows.append([3]); table['r'] = row
--
whole = parsed(k); row = whole['row']; put(row, whole['rows']); row['tags'].append(v)
more.append(whole); whole['rows'][0].append(v)
==
def parsed(k): return {'row': {'k': [k]}}
class Q:
    def __init__(self): self.q = []
    def put(self, row): self.q.append(row); row['n'] = len(self.q)
q = Q()
--
whole = parsed(k); row = whole['row']; other = whole['row']
put = q.put(row); other['k'].append(v); items.append(len(q.q))
more.append(q.q); more.append(put)
==
def parsed(k):
    same = [k]
    return {'a': same, 'b': same}
def put(a, b): items.append(a); items.append(b); a.append(1)
--
whole = parsed(k); a = whole['a']; b = whole['b']; put(a, b); b.append(v)
more.append(whole)
==
class R:
    def __init__(self, x): self.x = x; x.append(0)
    def show(self): return self.x
    @classmethod
    def make(cls, x): return cls(x)
class S(R): pass
--
x = [k]; r = S.make(x); things[k] = r; x.append(v); r.x.append(1); items.append(x)
==
def each(xs, f):
    for x in xs: f(x)
--
x = [[k]]; each(x, items.append); x[0].append(v)
==
def build(kind, x): return kind(x)
class A:
    def __init__(self, x): self.x = x
    def show(self): return self.x
--
x = [k]; things[k] = build(A, x); x.append(v); things[k].x.append(3); more.append(x)
==
class Obs:
    def __init__(self, f): self.f = f
    def fire(self, x): self.f(x)
o = Obs(items.append)
--
x = [k]; o.fire(x); x.append(v)
==
class N:
    def __init__(self, x): self.x = x
    def show(self): return self.x
    def twin(self): return type(self)(self.x)
    def other(self, y): return self.__class__(y)
class M(N):
    def __init__(self, x): N.__init__(self, x); table['m'] = x
--
x = [k]; n = M(x); t = n.twin(); y = [v]; o = n.other(y); things[k] = n
things['t'] = t; things['o'] = o; x.append(v); y.append(2); t.x.append(3)
more.append(y)
==
def keep(y): items.append(y)
def outer(g, x): g(x)
def twice(g, x): outer(g, x)
--
x = [k]; twice(keep, x); x.append(v); outer(lambda z: table.update(z=z), x); x.append(2)
==
def outer(g, x): g(x)
class Box:
    def __init__(self): self.all = []
    def add(self, x): self.all.append(x)
    def show(self): return self.all
box = Box()
--
x = [k]; outer(box.add, x); x.append(v); more.append(box.all)
==
def outer(g, x): return g(x)
--
x = [[k]]; y = outer(copy.copy, x); items.append(y); x[0].append(v); y[0].append(2)
==
def deco(method):
    @functools.wraps(method)
    def wrapper(self, *args, **kw):
        return method(self, *args, **kw)
    return wrapper
class Box:
    def __init__(self): self.all = []
    @deco
    def add(self, x, y=None): self.all.append(x); table['y'] = y
    def show(self): return self.all
box = Box()
--
x = [k]; y = [v]; box.add(x, y=y); x.append(v); y.append(5); more.append(box.all)
==
def maker(n):
    def deco(method):
        def wrapper(x): return method(x)
        return wrapper
    return deco
@maker(3)
def put(x): items.append(x)
--
x = [k]; put(x); x.append(v)
==
class Meta(type):
    def __call__(cls, x):
        made = super().__call__(x); items.append(x); return made
class Q(metaclass=Meta):
    def __init__(self, x): self.x = x
    def show(self): return self.x
    @classmethod
    def make(cls, x): return cls(x)
--
x = [k]; q = Q.make(x); things[k] = q; x.append(v)
==
class Base:
    @classmethod
    def load(cls, **kw): return cls(**kw)
    @classmethod
    def many(cls, xs): return [cls(a=x) for x in xs]
class T(Base):
    def __init__(self, a, b=None): self.a = a; self.b = b
    def show(self): return [self.a, self.b]
--
x = [k]; t = T.load(a=x, b=x); things[k] = t; x.append(v); t.a.append(1)
for n, one in enumerate(T.many([[v], x])): things['m%s' % n] = one; one.a.append(n)
==
class Own:
    def __init__(self): self.all = []
    def append(self, x): self.all.append([x])
    def show(self): return self.all
own = Own()
def each(xs, f):
    for x in xs: f(x)
--
x = [[k]]; each(x, own.append); each(x, items.append); x[0].append(v)
more.append(own.all)
==
d = {k: [v]}; ks = d.keys(); table[k] = ks; d['n'] = 1; items.append(sorted(table[k]))
items.append(list(ks)); d['m'] = 2
==
class O:
    def __init__(self, d):
        self.d = d; self.order = list(d.keys()); self.view = d.keys()
    def show(self): return [self.order, list(self.view), list(self.d)]
--
d = {k: v}; o = O(d); things[k] = o; d['n'] = v; o.d['p'] = 1; o.order.append(3)
==
def deco(method):
    def wrapper(self, x):
        y = [x]; method(self, y); y.append(2)
    return wrapper
class Box:
    def __init__(self): self.all = []
    @deco
    def add(self, x): self.all.append(x)
    def show(self): return self.all
box = Box()
--
x = [k]; box.add(x); x.append(v); box.add(v); more.append(box.all)
==
def run(f, box, x): f(box, x); x.append(1)
def run2(f, x): f(x); x.append(1)
class Box:
    def __init__(self): self.all = []
    def add(self, x): self.all.append(x)
    def show(self): return self.all
box = Box()
--
x = [k]; run(Box.add, box, x); run2(box.add, [v])
run2(box.add, x); more.append(box.all)
==
class Cmd:
    def __init__(self, do): self.do = do
    def fire(self, *a): self.do(*a)
class Box:
    def __init__(self): self.all = []
    def add(self, x): self.all.append(x)
    def show(self): return self.all
box = Box()
one = Cmd(box.add); two = Cmd(Box.add)
--
x = [k]; one.fire(x); two.fire(box, x); x.append(v); more.append(box.all)
==
def logged(method):
    @functools.wraps(method)
    def wrapper(self, *args, **kwargs):
        kwargs['extra'] = [1]
        return method(self, *args, **kwargs)
    return wrapper
class Box:
    def __init__(self): self.all = []; self.e = None
    @logged
    def add(self, x, extra=None):
        self.all.append(x); self.e = extra; extra.append(len(self.all))
        table['e'] = extra
    def show(self): return [self.all, self.e]
box = Box()
--
x = [k]; box.add(x); x.append(v); more.append(box.all); box.e.append(k)
==
class Node:
    def __init__(self, tree):
        self.tree, self.notes = tree, []
        tree.take(self)
    def show(self): return [self.notes, self.n]
class Tree:
    def __init__(self): self.nodes = []; self.last = None
    def take(self, node):
        self.nodes.append(node); self.last = node; node.n = len(self.nodes)
    def grow(self): return Node(self)
    def show(self): return [one.show() for one in self.nodes]
tree = Tree()
--
n = tree.grow(); n.notes.append(k); tree.last.notes.append(v); things[k] = n
things['t'] = tree; more.append([one.tree is tree for one in tree.nodes])
==
class Bag(dict):
    def give(self, to): keep(self, to)
def keep(x, to): to.append(x); x['n'] = len(to)
--
b = Bag(k=[k]); b.give(items); b['late'] = v; b['k'].append(v)
==
def outer(x): middle(x); return x
def middle(x, to=None): inner(x, 1); x['m'] = len(items)
def inner(x, n): table[x['k']] = x; items.append(x['l'])
--
x = outer({'k': k, 'l': [v]}); x['l'].append(1); table[k]['z'] = v; more.append(x)
==
class K:
    def __init__(self): self.rows = []
    def keep(self, x): self.rows.append(x)
    def outer(self, x): self.keep(x); x.append('late')
    def show(self): return self.rows
class L(K):
    def outer(self, x): super().keep(x); x.append('later')
kk = K()
ll = L()
def fresh(n):
    for i in range(n): yield [i]
--
for y in fresh(v): kk.outer(y)
for y in fresh(v): ll.outer(y)
things['one'] = kk; things['two'] = ll
==
def deep(x, n):
    if n: deep(x, n - 1)
    else: items.append(x)
    x.append(n)
--
x = [k]; deep(x, 3); x.append(v)
==
class User:
    def __init__(self): self.bag = []; self.n = 0
    def show(self): return [self.bag, self.n]
def user_of(k): return things.setdefault(k, User())
--
self.user = user_of(k); self.user.n += 1; things['last'] = self.user
self.user.bag.append(v); things[k].bag.append(1)
==
class User:
    def __init__(self): self.bag = []
--
self.user = User(); self.user.bag.append(k); items.append(self.user.bag)
self.user.bag.append(v)
==
class User:
    def __init__(self): self.bag = []
--
self.user = [k]
if v == 1: self.user = User()
table[k] = self.user; getattr(self.user, 'bag', self.user).append(v)
table[k] = len(getattr(table[k], 'bag', table[k]))
==
class Base:
    n = 1
    last = None
    tags = []
class Counted(Base):
    limit = 3
    def up(self, x):
        self.n += len(x); self.tags.append(self.n)
        if self.n > self.limit: self.limit += 10
        self.last = x
    def show(self): return [self.n, self.limit, self.last]
ca = Counted()
cb = Counted()
--
x = [k]; ca.up(x); x.append(v); cb.n = ca.n + cb.n; things['c'] = ca
more.append([Base.n, Counted.limit, Base.last, cb.show(), list(Base.tags)])
==
ids = itertools.count(1)
class Numbered:
    made = itertools.count(10, 5)
    def __init__(self): self.id = next(self.made); self.own = itertools.count(0.5, 0.1)
def draw():
    n = next(ids)
    if n % 3 == 0: raise ValueError(n)
    return n
numbered = {}
--
n = numbered.setdefault(k, Numbered()); m = copy.copy(ids); next(m)
items.append([n.id, next(n.own), repr(n.own), repr(Numbered.made), repr(m)])
items.append(list(itertools.islice(ids, 2)) + [a for a, _ in zip(ids, 'ab')])
try: items.append(draw())
except ValueError as e: items.append(str(e))
more.append([isinstance(ids, itertools.count), str(ids)])
==
new_id = itertools.count(1).__next__
def fresh(_ids=itertools.count(7)): return next(_ids)
draw = functools.partial(next, itertools.count())
counts = {'a': itertools.count(1), 'b': [itertools.count(2), itertools.count(3)]}
--
items.append([new_id(), fresh(), draw(), next(counts['a'])])
items.append([next(c) for c in counts['b']]); counts['b'].append(itertools.count(v))
==
conf = {'a': {'b': [1]}}
--
x = dict.get(conf, 'a'); table[k] = x; x['b'].append(v); more.append(conf)
==
conf = {'a': {'b': [1]}}
class Other(tornado.web.RequestHandler):
    def get(self, n, d=None): return conf
    def put(self, x): items.append(x); x.append(1); return self.get(x)
class Last(Other):
    def patch(self, x): return super().put(x)
--
x = [k]; y = Last(self.application, self.request).patch(x); x.append(v)
z = y.get('a', {}); table[k] = z; z['b'].append(v); more.append(conf)
==
class Tx:
    def __init__(self, d): self.d = d; self.changes = {}
    def save(self): self.d.update(self.changes)
db = {}
--
t = Tx(db); t.changes[k] = [v]; t.save()
t.changes[k].append(1); more.append(db)
==
class Conn:
    def __init__(self, store): self.store = store
    def enter(self): self.rows = []; return self.rows
    def done(self): self.store.append(self.rows)
log = []
--
c = Conn(log); r = c.enter(); r.append([k]); c.done()
r.append(v); log[-1].append(3); more.append(log)
==
class Conn:
    def __init__(self, store): self.store = store
    def __enter__(self): self.rows = []; return self.rows
    def __exit__(self, *a): self.store.append(self.rows)
log = []
--
with Conn(log) as r: r.append([k])
r.append(v); log[-1].append(3); more.append(log)
==
class Tx:
    def __init__(self, d): self.d = d
    def __enter__(self):
        self.copy = {n: list(x) for n, x in self.d.items()}
        return self.copy
    def __exit__(self, t, e, b): self.d.clear(); self.d.update(self.copy)
db = {}
--
with Tx(db) as c: c.setdefault(k, []).append(v); row = c[k]
row.append("late"); more.append(db)
==
def gen():
    got = []
    while True:
        x = yield got
        got.append(x)
g = gen(); next(g)
--
x = [k]; got = g.send(x); x.append(v); table[k] = got; more.append(got)
==
def acc():
    total = {}
    got = None
    while True:
        got = yield total
        total.setdefault(got, []).append(1)
a = acc(); next(a)
--
t = a.send(k); t[k].append(v); items.append(t[k]); t[k].append("z"); more.append(t)
==
class Coll:
    def __init__(self): self.rows = []
    def __lshift__(self, x): self.rows.append(x); return self
    def __or__(self, x): self.rows += [x]; return x
    def __matmul__(self, x): table["m"] = x; return x
    def __neg__(self): return self.rows[-1]
c = Coll()
--
x = [k]; c << x << [v]; x.append(1); y = c | [2]; y.append(3); (-c).append("n")
z = c @ y; z.append("at"); more.append(c.rows)
==
class Coll:
    def __init__(self): self.rows = []
    def __iter__(self): return iter(self.rows)
    def __len__(self): return len(self.rows)
    def __getitem__(self, n): return self.rows[n]
    def __contains__(self, x): return x in self.rows
    def __iadd__(self, x): self.rows.append(x); return self
    def __call__(self, x): self.rows.insert(0, x); return x
c = Coll()
--
global c
x = [k]; c += x; x.append(v); y = c([v]); y.append("call"); c[0].append("get")
more.append([list(c), len(c), x in c])
for r in c: items.append(r); r.append("it")
==
handlers1 = []
--
x = [k]; handlers1.append(lambda: x); x.append(v); y = handlers1[-1]()
items.append(y); y.append("z"); more.append([h() for h in handlers1])
==
class Borg:
    _state = {}
    def __init__(self):
        self.__dict__ = self._state
    def add(self, x):
        self.__dict__.setdefault("rows", []).append(x)
--
b = Borg(); x = [k]; b.add(x); x.append(v); more.append(Borg().rows)
==
def retry(n):
    def deco(f):
        @functools.wraps(f)
        def inner(*a, **kw):
            for _ in range(n):
                try: return f(*a, **kw)
                except ValueError as e: inner.errors.append(e.args[0]); last = e.args[0]
            return last
        inner.errors = []
        return inner
    return deco
@retry(2)
def risky(x): x.append("try"); raise ValueError(x)
--
x = [k]; y = risky(x); y.append(v); x.append(1); items.append(y); y.append(2)
more.append(risky.errors)
==
class Attr:
    def __set_name__(self, o, n): self.n = "_" + n
    def __get__(self, o, t): return o.__dict__.setdefault(self.n, [])
    def __set__(self, o, x): o.__dict__[self.n] = x
class Holder:
    rows = Attr()
h = Holder()
--
x = [k]; h.rows = x; x.append(v); h.rows.append(1); table[k] = h.rows
h.rows.append(2); more.append(h.rows)
==
class Attr:
    def __init__(self): self.d = {}
    def __get__(self, o, t): return self.d.setdefault(o.k, [])
    def __set__(self, o, x): self.d[o.k] = x
class Holder:
    rows = Attr()
    def __init__(self, k): self.k = k
--
h = Holder(k); x = [k]; h.rows = x; x.append(v); h.rows.append(1)
items.append(h.rows); h.rows.append(2); more.append(Holder(k).rows)
==
rows = {"a": [], "b": []}
pick = rows.get
--
r = pick(k); r.append(v); table[k] = r; r.append(1); more.append(rows)
==
P = collections.namedtuple('P', 'a b')
--
p = P([k], 1); q = p._replace(b=2); items.append(q); p.a.append(3)
==
P = collections.namedtuple('P', 'a b')
--
p = P([k], 1); q = p._asdict(); items.append(q); p.a.append(3)
==
P = collections.namedtuple('P', 'a b')
--
x = [[k], 1]; q = P._make(x); items.append(q); x[0].append(3)
==
from dataclasses import replace as again
@dataclasses.dataclass(frozen=True)
class D:
    a: list
    b: int
--
x = D([k], 1); y = again(x, b=2); items.append(y.a); x.a.append(v)
==
@dataclasses.dataclass
class D:
    a: list
    b: int = 0
ds = {}
--
x = [k]; ds[k] = D(a=x); x.append(v); more.append(ds[k].a)
==
@dataclasses.dataclass
class D:
    a: list
    b: int = dataclasses.field(default=1, kw_only=True)
--
x = [k]; d = D(a=x); items.append(d.a); d.a.append(v); more.append([x, d.b])
==
@dataclasses.dataclass
class A:
    a: list
@dataclasses.dataclass
class D(A):
    n: typing.ClassVar[int] = 2
    b: dict = dataclasses.field(default_factory=dict)
    c: list = dataclasses.field(default_factory=list, init=False)
--
x = D([k], {'z': v}); items.append(x.a); x.a.append(v); table[k] = x.b; x.b['y'] = k
==
class N:
    __slots__ = ('a', 'up')
    def __init__(self, a, up=None): self.a, self.up = a, up
ns = {}
--
ns[k] = n = N([k], ns.get(v)); n.a.append(v); ns['z'] = n.up or n
ns['z'].a.append(k); del ns['z'].up; items.append([hasattr(n, 'up'), n.__slots__])
==
class N:
    __slots__ = 'a'
    def __init__(self, a): self.a = a
class M(N):
    __slots__ = ('b',)
ns = {}
--
m = ns.setdefault(k, M([k])); m.b = m.a; m.b.append(v); items.append(getattr(m, 'c', 1))
try: setattr(m, 'a', [v])
except AttributeError: items.append(0)
==
class D:
    __slots__ = ('a',)
    def __init__(self, a): object.__setattr__(self, 'a', a)
--
x = D([k]); items.append(x.a); x.a.append(v)
==
x = [[k], [v]]; first, *rest = x; items.append(first); x[0].append(v)
==
x = [[k], [v]]; first, *rest = x; items.append(rest); x[1].append(v)
==
x = [[k], [v]]; y, z = map(list, [x, x]); items.append(y); x[0].append(v)
==
x = [k]; m = collections.ChainMap({'a': x}); items.append(m['a']); x.append(v)
==
x = [k]; y = itertools.groupby([x], key=len); items.append([list(g) for _, g in y])
x.append(v)
==
x = [[k]]; y = list(itertools.accumulate(x, max)); items.append(y); x[0].append(v)
==
x = [[k]]; y = list(itertools.takewhile(len, x)); items.append(y); x[0].append(v)
==
x = [[k]]; y = list(itertools.permutations(x)); items.append(y); x[0].append(v)
==
x = [[k]]; y = collections.UserList(x); items.append(y[0]); x[0].append(v)
==
x = [[k]]; y = typing.cast(list, x); items.append(y); x[0].append(v)
==
import queue
--
x = [k]; q = queue.Queue(); q.put(x); y = q.get(); items.append(y); x.append(v)
==
@functools.lru_cache(None)
def rows(n): return [n]
--
items.append(rows(k)); rows(k).append(v)
==
class M(collections.abc.MutableMapping):
    def __init__(self): self.d = {}
    def __getitem__(self, n): return self.d[n]
    def __setitem__(self, n, x): self.d[n] = x
    def __delitem__(self, n): del self.d[n]
    def __iter__(self): return iter(self.d)
    def __len__(self): return len(self.d)
m = M()
def group(rows):
    out = {}
    for r in rows: out.setdefault(r[0], []).append(r)
    return out
--
rows = [[k, v], ['z', 1]]; g = group(rows); more.append(g); rows[0].append(5)
m.setdefault('z', []).append(v)
==
import pickle
U = {}
def dump(): return pickle.dumps(U)
--
u = U.setdefault(k, {'n': 0}); items.append(u); u['n'] += 1
more.append([U, len(dump())])
==
class Own:
    def append(self, x): return x
--
self.act = items.append; self.x = [k]; self.act(self.x); self.x.append(v)
==
import types
ns = types.SimpleNamespace(rows=[])
keep = ns.rows.append
--
x = [k]; keep(x); x.append(v); more.append(ns.rows)
==
import types
--
x = [k]; o = types.SimpleNamespace(x=x); items.append(o.x); x.append(v)
table[k] = o.x; o.x.append(1)
==
class R:
    def __init__(self, **kw):
        for n, z in kw.items(): setattr(self, n, z)
--
r = R(tags=[k]); items.append(r.tags); r.tags.append(v); more.append(items[-1])
==
class R:
    def __init__(self, text): self.__dict__ = json.loads(text)
--
r = R('{"tags": []}'); table[k] = r.tags; r.tags.append(v)
==
import types
--
r = json.loads('{"tags": []}', object_hook=lambda d: types.SimpleNamespace(**d))
table[k] = r.tags; r.tags.append(v)
==
class E(Exception): pass
def fail(x): raise E({'x': x}) from None
--
x = [k]
try: fail(x)
except E as e: items.append(e.args[0]['x'])
x.append(v); o = StopIteration(x); table[k] = o.value; x.append(1)
==
def same(a): return a
--
x = [k]; items.extend(itertools.starmap(lambda a, b: x, [(1, 2)])); x.append(v)
table[k] = functools.reduce(lambda a, b: x, [1, 2]); x.append(1)
items.extend(map(same, [x])); x.append(2)
==
def mk(x):
    def inner(): return x
    return inner
def pair():
    made = []
    return (lambda: made), made.append
--
x = [k]; f = mk(x); items.append(f()); x.append(v)
get, add = pair(); table[k] = get(); add(v); more.append(get())
==
def feed():
    while True:
        x = yield
        items.append(x)
--
x = [k]; g = feed(); next(g); g.send(x); x.append(v)
==
class M(dict):
    def __missing__(self, n): return self['x']
class N:
    def __new__(cls, x): return x
--
x = [k]; m = M(x=x); items.append(m['q']); x.append(v)
y = [v]; table[k] = N(y); y.append(1)
==
class P: n = 0
ps = {}
--
ps.setdefault(k, P()).n += 1
try: P(1)
except TypeError as e: more.append([str(e), ps[k].n])
"""


_STATE = """
items = []
table = {}
things = {}


def state():
    return [items, table, {key: one.show() for key, one in things.items()}]
"""


class Shape(NamedTuple):
    """Definitions, and the body of a handler that uses them."""

    definitions: str
    body: str


def shapes() -> list[Shape]:
    """Return all shapes; none shares a name, or any state, with another one."""
    found = []
    for number, text in enumerate(_TEXT.strip().split("\n==\n")):
        own, _, body = text.rpartition("\n--\n")
        definitions, body = f"{_STATE}\n{own}", f"{body}\nmore.append(state())"
        for pattern, name in _defined_in(definitions).items():
            definitions, body = (
                re.sub(pattern, f"{name}_{number}", one) for one in (definitions, body)
            )
        found.append(Shape(definitions, body))
    return found


def _defined_in(text: str) -> dict[str, str]:
    """Return patterns of the names of functions, classes and variables, with these.

    Not of special methods; and ``.items`` is no variable.
    """
    module = ast.parse(text)
    found = {
        rf"\b{node.name}\b": node.name
        for node in ast.walk(module)
        if isinstance(node, ast.FunctionDef | ast.ClassDef)
    }
    for node in module.body:
        if isinstance(node, ast.Assign):
            found |= {
                rf"(?<!\.)\b{one.id}\b": one.id
                for one in node.targets
                if isinstance(one, ast.Name)
            }
    kept = {"append", "get", "show"}  # builtins have these, or they mean any object's
    return {
        pattern: name
        for pattern, name in found.items()
        if not name.startswith("__") and name not in kept
    }
