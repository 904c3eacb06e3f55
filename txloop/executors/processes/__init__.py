"""Workers that are forked processes, each with a replica of the store.

::

    executor         the executor
    crew             its workers: made, replaced when they die, relieved in time
    connection       the loop's end of one worker
    replication      what replicas miss: the commits since a version, each packed once
    parking          whether replicas that nobody asks anything are told of commits
    worker           a worker's main function
    feed             what a worker is sent: commits and calls
    spawner          a child that only forks, so that forking stays safe
    spawner_process  what happens in it
    supervision      is a worker stopped, dead, stuck or never ready? its end in words
"""
