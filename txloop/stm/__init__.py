"""Versioned cells, snapshots and one attempt; it knows no loop and no executor.

::

    types         what crosses from the loop to an attempt and back: Call, Outcome
    container     what every piece of shared state is: a container of versioned cells
    versions      what is in one cell: a value, or those that snapshots still read
    contents      the cells of one container at a version, and how a commit changes them
    store         committed state: all containers, one version, and what changed when
    joining       ... commits that go on, and who is told of all
    sets          what an attempt writes to one container; a read set that is closed
    attempt       one run of a transaction: its reads, writes and effects
    run           a call run as an attempt, on whichever thread this is
    validation    whether an outcome still holds: all that a commit is decided by
    primitives    what a body may ask for: on_commit, inevitable, retry, or_else
    attempt_kinds one that remembers lines, for the log; one that begins to read late
    threads       which one runs transactions, the GIL, and counters for all
    held          what a container may hold although only one thread may use it
    immutability  what cannot change: the one table
    cell_names    what a cell is called in warnings and statistics
    origin        whose code it is: the program's, or a library's
    tracebacks    ... and those of the program without txloop's frames
    callables     what a callable is under its partials and methods
    variables     context variables: those that an effect finds, arithmetic's settings
    signals       whether an exception is that of a signal handler
    log_capture   log records wait for the commit; those of other processes
    measuring     how long bodies keep their threads
"""
