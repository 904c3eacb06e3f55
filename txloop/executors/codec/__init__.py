"""Calls, answers and values as bytes, which another process or thread can read.

::

    packing       calls and answers: marshalled if they have a plain form, else pickled
    plain_forms   requests and responses as strings, numbers, tuples, lists and dicts
    plain_values  what cells hold, likewise
    plain_cells   cells that were read and written, likewise
    by_value      pickles with functions and classes by value
    contexts      context variables: only what differs from what is there
    answers       errors and tracebacks, records, effects
    frames        how all that becomes bytes, and how bytes are cut
"""
