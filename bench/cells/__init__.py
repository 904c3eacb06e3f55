"""What the containers cost: each operation beside the same one of the plain object.

`python -m bench cells` has no server and no load. The way of a run is that of the
cases: `command` parses, `timing` collects and makes rows of `operations`, `report`
renders.
"""
