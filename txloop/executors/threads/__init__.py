"""Workers that are threads of this process, and share the store with it.

::

    executor   the executor
    worker     a worker thread, and the loop thread's end of it
    exchange   where both meet: answers one way, a version the other
    isolation  what a run could change, it gets as a copy of its own
"""
