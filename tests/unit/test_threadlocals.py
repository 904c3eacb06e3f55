"""What a `threading.local` has in this thread alone."""

from __future__ import annotations

import threading

from txloop.watch.parts import only_here


class Ready(threading.local):
    """Gives each thread what it needs."""

    depth = 0

    def __init__(self, size=1):
        self.size = size
        setattr(self, "name", None)  # noqa: B010 # as a loop over names would
        vars(self).update({"stack": [], "seen": 0})


class Readier(Ready):
    pass


def seen_in_a_thread(thing):
    """Return the attributes that another thread finds."""
    found: list[set[str]] = []
    thread = threading.Thread(target=lambda: found.append(set(vars(thing))))
    thread.start()
    thread.join()
    return found[0]


def test_what_was_set_here_is_only_here():
    local = threading.local()
    assert [] == only_here(local)

    local.language = "de"

    assert ["language"] == only_here(local)
    assert set() == seen_in_a_thread(local)


def test_what_each_thread_gets_is_not():
    for local in (Ready(2), Readier()):
        assert {"size", "name", "stack", "seen"} == seen_in_a_thread(local)
        local.depth = 5
        local.size = 3
        assert [] == only_here(local)

        local.connection = object()
        assert ["connection"] == only_here(local)
