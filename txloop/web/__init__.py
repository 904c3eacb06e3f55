"""Requests as transactions.

A marked handler's request is frozen into a call. Each attempt runs a fresh handler
object through Tornado's own ``_execute`` (prepare, the verb, finish, etag, write_error)
against a connection that records; at commit the loop replays the recorded response on
the real connection, once, and then runs ``on_finish`` and the access log::

    delegate         takes a request over from Tornado and answers it at commit
    eligible         which handlers and verbs can run this way
    marking          marks by name or by proof, for programs that are not changed
    verdicts         why a verb runs on the loop thread
    targets          what workers know applications and handler classes by
    frozen           a request as an attempt gets it
    as_stock         what needs no attempt on the loop thread, and runs as ever
    request_attempt  one attempt: a fresh handler, a recorder, their response
    handler_run      the handler's run, during which some of its methods are not its own
    recorder         the connection that records, and replays
    ending           the end of an answer, left for after the commit
    driving          coroutines, driven to their end in an attempt
    leftovers        what a handler leaves behind for `on_finish`
    clients          clients that have stopped sending
    travelling       requests in other processes, and what else goes along there
    tied             stand-ins for what belongs to a connection
    watched          for the watch: what a verb can reach; unmarked code has run
    containers       which objects of Tornado they may hold; `write`, and JSON, of them
    sockets          WebSockets in transactions: what is sent waits for the commit
    messages         messages of marked WebSockets as transactions
    templates        compiled templates, in debug mode
    repeated         what stock Tornado does anew with each request
    announcing       the line that says at the start how the verbs run
    fronts           processes or threads that serve HTTP for the loop's thread
    tornado_private  every private name of Tornado that requests rely on
"""

from __future__ import annotations

from txloop.web.announcing import announce_servers
from txloop.web.containers import hold_what_is_tied, write_containers
from txloop.web.delegate import take_requests_over
from txloop.web.fronts import opening
from txloop.web.marking import mark_named
from txloop.web.messages import take_messages_over
from txloop.web.repeated import remember_what_is_repeated, take_streams_over
from txloop.web.sockets import let_sockets_wait
from txloop.web.templates import keep_templates
from txloop.web.travelling import carry_requests, register_forms

__all__ = [
    "announce_servers",
    "keep_templates",
    "mark_named",
    "opening",
    "take_requests_over",
    "write_containers",
]

carry_requests()
register_forms()
hold_what_is_tied()
let_sockets_wait()
remember_what_is_repeated()
take_messages_over()
take_streams_over()
