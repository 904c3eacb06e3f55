"""Fronts: processes or threads that serve HTTP for the loop's thread, the owner.

::

    front       a front: Tornado's HTTP, short transactions, all else handed over
    request     one request in a front
    places      where it runs: as a forked process, or a thread of the owner's
    moving      a connection leaves one server for another
    servers     which servers and connections fronts can serve
    doorman     the owner: which connections fronts get, and what becomes of requests
    repertoire  the owner: which verbs run in fronts, and which in workers
    verbs       ... what is known of each
    conditions  ... where that is right, and worth it
    costs       ... what a request costs all processes, by their clocks
    opening     when a loop's fronts are opened, and why there may be none
"""
