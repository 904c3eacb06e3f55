"""What lies between the owner and its fronts; HTTP itself is in `txloop.web.fronts`.

::

    reception       the owner's side of all fronts
    desk            ... where they are processes
    thread_desk     ... where they are threads, with the owner's end of each
    connection      the owner's end of one process
    carrier         the front's end, whatever lies between
    replica         ... of a process: a replica of the store, and attempts on it
    following       ... which repeats what others have committed
    own_commits     ... and commits by itself while the owner sleeps
    reading         ... which first take it that they only read
    thread_carrier  ... of a thread, which reads the store itself
    link            a socket: frames, and descriptors that go with them
    box             what threads leave for each other
    board           the commits that replicas repeat, written once for all
    lending         while the owner's loop sleeps, fronts put theirs there
    posted          what one of them may put there
    commit_lock     who may put a commit there: the owner, or a front while that sleeps
    nap             when the owner's loop begins to sleep, and wakes up
    page            one page of memory that all share: the newest version
    overtime        calls that run for longer than they may
"""
