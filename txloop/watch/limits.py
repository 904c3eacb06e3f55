"""What the watch may take: how much it looks at, how often, and for how long.

All of it is a bargain between what is found late and what each request pays, so it
stands in one place. Modules read it when they need it (``limits.SHARE``), so that a
test can set one.
"""

from __future__ import annotations

# Time

SHARE = 0.02
"""Of a body's time, what the look after it may take."""

MOST_CREDIT = 10.0
"""How many whole looks are saved up."""

DUE_SECONDS = 0.0001
"""Where bodies are short, so much is saved up for a look: one by one cost more."""

FIRST_RUNS = 5
"""After so many runs in one process, all is looked at, whatever it takes."""

STALE_SECONDS = 0.01
"""How old a look on the loop thread may be, at most."""

LOOP_SHARE = 0.005
"""Of all time, what looks at one function may take on the loop thread."""

LEAST_SECONDS = 0.00003
"""How long a look in a new epoch may take in any case."""

# What settles

CALM_RUNS = 10
"""After so many runs in a row that have changed nothing, a function may leave again."""

MOST_ROUNDS = 3
"""After so many times that it was held, a function stays on the loop thread."""

# The walk

MOST_THINGS = 20_000
"""After so many objects the walk ends."""

MOST_PICTURED = 2_000
"""After so many objects, the walk through the whole program ends."""

MOST_CHILDREN = 4_000
"""Of the parts of a container, so many are gone into."""

MOST_ENTRIES = 1_000
"""Of a module, or of a container in it, so many are looked at for hooks."""

HOOK_DEPTH = 3
"""For hooks, containers are gone into that lie so deep in one another."""

# Pictures

LARGE = 1_000_000
"""Of a container with more parts, the length and the first ones are looked at."""

FIRST_PARTS = 1_000
"""How many these are."""

WHOLE_BYTES = 1 << 24
"""Of a larger buffer, samples are looked at."""

SAMPLES = 16
SAMPLE_BYTES = 1 << 12

BYTES_A_PART = 1_000
"""So many bytes of a buffer take as long to look at as one part."""

# Files

MOST_TEMPLATES = 300
"""So many templates are searched for names ..."""

TEMPLATE_BYTES = 200_000
"""... and so much of each."""

MOST_CHANGED_FILES = 10_000
"""So many changed files are remembered: those that were new to it last."""
