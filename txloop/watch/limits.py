"""What the watch may take: how much it looks at, how often, and for how long.

All of it is a trade-off between how late a change is found and what each request pays,
so it stands in one place. Modules read it when they need it (``limits.SHARE``), so that
a test can set one.
"""

from __future__ import annotations

# Time

SHARE = 0.02
"""The share of a body's time that the look after it may take."""

MOST_CREDIT = 10.0
"""How many whole looks are saved up at most."""

DUE_SECONDS = 0.0001
"""How much is saved up before a look where bodies are short: many looks cost more."""

FIRST_RUNS = 5
"""After how many first runs in a process all is looked at, however long it takes."""

STALE_SECONDS = 0.01
"""How old a look on the loop thread may be."""

LOOP_SHARE = 0.005
"""The share of all time that looks at one function may take on the loop thread."""

SLEEP_SHARE = 0.02
"""The same for looks before it sleeps."""

LEAST_SECONDS = 0.00003
"""How long a look in a new epoch may take in any case."""

# What settles

CALM_RUNS = 10
"""After how many runs in a row without a change a function may leave again."""

MOST_ROUNDS = 3
"""How often a function may be held before it stays on the loop thread."""

# The walk

MOST_THINGS = 20_000
"""After how many objects the walk ends."""

MOST_PICTURED = 2_000
"""After how many objects the walk through the whole program ends."""

MOST_CHILDREN = 4_000
"""How many parts of a container the walk goes into."""

MOST_ENTRIES = 1_000
"""How many entries of a module, or a container in it, are searched for hooks."""

HOOK_DEPTH = 3
"""How deep in one another containers are searched for hooks."""

# Pictures

LARGE = 1_000_000
"""Of a container with more parts only the length and the first ones are compared."""

FIRST_PARTS = 1_000
"""How many these are."""

WHOLE_BYTES = 1 << 24
"""Of a larger buffer only samples are compared."""

SAMPLES = 16
SAMPLE_BYTES = 1 << 12

BYTES_A_PART = 1_000
"""How many bytes of a buffer take as long to compare as one part."""

# Files

MOST_TEMPLATES = 300
"""How many templates are searched for names ..."""

TEMPLATE_BYTES = 200_000
"""... and how much of each."""

MOST_CHANGED_FILES = 10_000
"""How many changed files are remembered, the newest."""
