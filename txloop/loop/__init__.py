"""Tornado's loop made transactional, and programs set up to run on it.

::

    setup            `install`, `stats` and others: a program set up
    options          the options of a loop, and those from outside of the program
    ioloop           the IOLoop
    descriptors      file descriptors that it watches
    closing          ports and connections of a loop that is to end: nothing is dropped
    shutdown         the orderly end, also where threads of the program do not end
    autoreload       a new program in the process
    program          running a program as Python itself would
    yieldable        blocking I/O in a thread, computing on the executor
    patches          every patch of Tornado, and why
    tornado_private  every private name of Tornado that loops rely on
"""
