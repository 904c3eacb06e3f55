"""Which transaction runs when and where, and what becomes of its answer.

::

    dispatcher   takes calls, and tells the machine what has happened: the shell
    hub          what its parts may use of it, and of each other
    actions      what the machine wants done: sends, validates, commits
    machine      what follows from what happens: the table of states
    transaction  a transaction on its way, and its states
    stimuli      what can happen, and what is to be done then
    short_way    a call that runs where, and when, it is submitted
    elsewhere    attempts that fronts, or others, make by themselves
    placement    where a call runs: here, or away
    profile      what is known of each function
    queues       rounds, turns, and lines for hot cells
    heat         whether the calls of a function stand in line
    waiting      transactions that have retried
    wake_index   which of them a commit concerns
    effects      effects of what was committed, in its order
    holds        functions held on the loop thread, as plain objects have changed
    marks        the mark that makes a function a transaction
    calls        plain functions as transactions
    events       what happened, as listeners are told
    reporting    tells listeners, and warns
    stats        the figures of a loop: `txloop.stats`
"""
