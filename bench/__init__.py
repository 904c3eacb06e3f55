"""Benchmarks: servers driven over HTTP from outside, compared with stock Tornado.

`python -m bench --help` lists the cases. A new case is one file in `bench/cases`;
`bench/case.py` says what it declares. The way of a run: `__main__` parses, `measure`
collects, `rows` condenses, `report` and `plot` render. `bench/loads` are the
loads of cases under fire, `bench/astar` is one that checks every answer; `bench/cells`
has no server and times single operations.
"""
