"""Workers that are threads of this process, and share the store with it.

::

    executor   the executor, and where its threads meet the loop thread
    worker     a worker thread, and the loop thread's end of it
    isolation  what a run could change, it gets as a copy of its own
"""
