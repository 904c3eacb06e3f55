"""Workers on many machines, on a cluster of Dask's.

::

    executor    the executor
    crew        its workers: hired where Dask workers are, and let go with these
    cluster     which Dask workers there are, and a channel to each
    local       a cluster of this machine, for programs that name none
    forks       forked workers of this machine, beside those of the cluster
    connection  the loop's end of one worker
    channel     messages over one of Dask's connections
    relay       what a Dask worker gets: connects programs with workers
    host        a process beside a Dask worker, which forks
    image       a program as bytes
    pickling    what pickle refuses, or takes otherwise than as a copy
    loading     the image made into a copy, in the other process
    absent      what stands for sockets, files and loops there
    versions    what has to be the same on both sides
    stream      calls on Dask's dashboard
"""
