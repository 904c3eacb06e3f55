"""Where attempts run: on the loop thread, in workers, or in fronts.

::

    protocol         what an executor is, and the look-up of one by name
    serial           attempts on the loop thread, at once
    processes        forked workers, each with a replica of the store
    threads          worker threads, which share the store
    dask             workers on a cluster
    fronts           what lies between the owner and those that serve HTTP for it
    codec            calls, answers and values as bytes
    pool             one pool for all kinds of workers: queue, timeouts, deaths
    worker_protocol  what a kind of worker has to supply to it, and how long it waits
    book             calls that wait for a worker, and what each worker was given
    crew             what makes the workers, and others in their place; their figures
    refusing         loops that refuse attempts: what they do cannot be undone
    plea             an attempt in a thread asks to go on in place
    carried          what of txloop goes along where a program is copied
    faults           faults on purpose
    debugging        names of processes, where a call is, why no debugger opens
"""
