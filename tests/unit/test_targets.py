"""What workers know applications and handlers by."""

from __future__ import annotations

import gc
import pickle
import threading
import weakref

import pytest
from tornado.web import Application, RequestHandler

from txloop.web import targets
from txloop.web.targets import register_all, target_of, targets_of


@pytest.fixture
def handler_class():
    """Return a class of its own for each test."""

    class Handler(RequestHandler):
        pass

    return Handler


def test_a_target_travels_as_a_number(handler_class):
    application = Application()
    target = target_of(application, handler_class, {})

    assert len(pickle.dumps(target)) < 100
    assert pickle.loads(pickle.dumps(target)) is target


def test_a_target_keeps_what_does_not_pickle(handler_class):
    application = Application([("/", handler_class, {"lock": threading.Lock()})])
    register_all()

    [target] = targets_of(handler_class)
    assert pickle.loads(pickle.dumps(target)) is target
    assert target.application is application


def test_the_same_route_has_the_same_target(handler_class):
    keywords = {"name": 1}
    application = Application([("/", handler_class, keywords)])
    register_all()
    register_all()

    [target] = targets_of(handler_class)
    assert target_of(application, handler_class, keywords) is target


def test_routes_that_differ_have_targets_of_their_own(handler_class):
    one, two = {"name": 1}, {"name": 2}
    application = Application(
        [("/", handler_class), ("/1", handler_class, one), ("/2", handler_class, two)]
    )
    other = Application([("/", handler_class)])
    register_all()

    found = [
        (target.application, target.handler_kwargs)
        for target in targets_of(handler_class)
    ]
    assert 4 == len(found)
    for expected in [(application, {}), (application, one), (application, two)]:
        assert expected in found
    assert (other, {}) in found


def test_arguments_made_for_a_request_are_not_kept(handler_class):
    application = Application()
    target = target_of(application, handler_class, {"made": "now"})
    gone = weakref.ref(target)
    del target
    gc.collect()

    assert gone() is None
    assert [] == targets_of(handler_class)


def test_targets_go_with_their_application(handler_class):
    application = Application([("/", handler_class)])
    register_all()
    assert 1 == len(targets_of(handler_class))

    del application
    gc.collect()

    assert [] == targets_of(handler_class)


def test_a_number_that_is_not_known_says_why(handler_class):
    target = target_of(Application(), handler_class, {})
    frozen = pickle.dumps(target)
    targets._targets.pop(target.number)

    with pytest.raises(LookupError, match="Handler was added to its application after"):
        pickle.loads(frozen)
