"""Fronts: processes or threads that serve HTTP for the loop's thread, the owner.

::

    moving     a connection leaves one server for another, in another process or thread
    request    one request in a front
    front      a front: Tornado's HTTP, short transactions, all else handed over
    in_process what is different in a forked process
    in_thread  what is different in a thread of the owner's process
    servers    which servers and connections fronts can serve
    routing    the owner: whether routes are as fronts have copies of them
    repertoire the owner: which verbs run in fronts, and which in workers
    doorman    the owner: which connections fronts get, and what becomes of requests
    opening    when a loop's fronts are opened, and why there may be none
"""
