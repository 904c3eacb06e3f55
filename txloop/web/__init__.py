"""Requests as transactions.

A marked handler's request is frozen into a call. Each attempt runs a fresh handler
object through Tornado's own ``_execute`` (prepare, the verb, finish, etag, write_error)
against a connection that records; at commit the loop replays the recorded response on
the real connection, once, and then runs ``on_finish`` and the access log::

    delegate   takes a request over from Tornado and answers it at commit
    eligible   which handlers and verbs can run this way
    targets    what workers know applications and handler classes by
    frozen     a request that travels
    body       one attempt: the handler's run against a recorder
    leftovers  what a handler leaves behind for `on_finish`
    recorder   the connection that records, and replays
    templates  compiled templates, in debug mode
    plain      requests and responses as plain data
    writing    `RequestHandler.write` of containers
"""

from __future__ import annotations

from txloop.web.delegate import take_requests_over
from txloop.web.eligible import mark_matching
from txloop.web.plain import register_forms
from txloop.web.targets import register_all
from txloop.web.templates import keep_templates
from txloop.web.writing import write_containers

__all__ = [
    "keep_templates",
    "mark_matching",
    "register_all",
    "take_requests_over",
    "write_containers",
]

register_forms()
