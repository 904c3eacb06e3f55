"""``python -m txloop share`` and ``--share``: plain state becomes containers.

::

    command     prints what would change and why; or writes it into the files
    planning    all rounds: until nothing is left to share
    survey      runs the program up to its loop in a child: what is shared
    things      the objects that findings name
    making      which line has made each plain object, and which names lead to it
    rewriting   from that to changes of the text: one round
    changes     what is told of that
    texts       a module's text, where its syntax stands in it, changes by position
    syntax      parts of syntax trees
    handlers    which classes are handlers
    scopes      which names mean a variable of the module
    bindings    what a variable of a function is given
    temporaries variables that are used only while their module runs
    subclassing what class statements give by keywords
    generics    classes that are given the types of their parts
    typed_dicts classes of dicts, which are called for plain ones
    importing   what modules import has the name that it has at home
    variables   names that are bound again: TVars
    attributes  attributes that are assigned again: TVars
    enclosed    numbers and texts that functions keep: TVars
    shown       f-strings that show how a name is written
    lookups     what uses a name that the code does not have: getattr, templates
    derived     classes that add methods to a dict or list
    stated      what class statements say of their classes
    families    which class is derived from which, and what their objects have
    classes     classes whose objects become TObjects
    makeup      lines that ask what a class is made of
    showing     whether objects may show their attributes in another order
    deriving    what their class statements become
    having      whether all that their objects have can be shared
    singletons  what a `__new__` of their own returns
    slots       classes whose objects have no other attributes than their slots
    strays      what sets attributes of objects elsewhere than on `self`
    flow        where objects of these classes may get to
    aliases     plain objects that are stored and used on
    callees     which functions of the program a call may run
    tables      functions and classes that are found in a table
    operators   what lines call without a call: own operators, setters of properties
    habits      what these do with what they are given
    learning    looks at all functions for that, in rounds
    assigning   assignments that run setters of properties, and of items
    arguments   what calls give for their parameters
    spreading   what they give for those that are only spread
    wholes      what may become a container with all that is in it
    uncalled    which functions a program does more with than to call them
    decorators  what verbs get beside texts of decorators
    unnamed     what is called without its name
    scalars     attributes that are given numbers and texts only
    sets        names that are given sets only: what is put in has a hash
    handing     what expressions hand on
    unseen      what is stored that no variable leads to
    setting     which attributes lines set, and whose by names made at run time
    owning      what handlers keep in attributes, change, and store
    storing     where variables are stored
    filling     what functions put into their variables
    using       whether they are changed after that
    again       what a further round of a loop does with what they had
    mattering   whether a use changes an object, or hands it on
    fields      constructors that stand in no text: those of dataclasses
    described   what dataclasses.field says of what a field begins with
    meanings    what names mean
    origins     where values come from: from names, or from lines that make them
    decoding    what makes all that it returns, or gives what cannot change
    passing     how values get from place to place
    changing    what is changed in place
    receiving   which methods only keep what they are given
    kept        lines that keep values under names
    keeping     what is kept in two places, one of which stays plain
    demands     what has to be plain
    threads     what runs on other threads, and may touch
    locks       locks for which nothing ever waits
    loops       whether loops change what they go over, or others do meanwhile
    iterators   which iterators are kept from one request to another
    hazards     what containers do not do as plain objects do
    identities  where the identity of an object is asked for
    types_asked where the exact type of an object is asked for
    numeric     which values may be numbers
    orders      where the order of a set of numbers shows that is not known
    orders_seen whether an expression shows the order of a set
    replacing   what is called in the place of Python's heaps, locks and sets
    exact       functions that ask in C for a plain object, such as those of heapq
    hook        compiles the program's modules from changed texts
"""

from __future__ import annotations

from txloop.sharing.command import EXIT_CODES, Wanted, run_shared, share_program

__all__ = ["EXIT_CODES", "Wanted", "run_shared", "share_program"]
