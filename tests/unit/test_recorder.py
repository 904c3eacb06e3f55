"""The connection that records: what it refuses, and what it replays."""

from __future__ import annotations

import asyncio
import pickle

import pytest
from tornado.httputil import (
    HTTPConnection,
    HTTPHeaders,
    HTTPOutputError,
    ResponseStartLine,
)

from txloop import TxInternalError
from txloop.web.recorder import Recorder

OK = ResponseStartLine("HTTP/1.1", 200, "OK")
NOT_MODIFIED = ResponseStartLine("HTTP/1.1", 304, "Not Modified")


class Real(HTTPConnection):
    """Writes down what is done to it."""

    def __init__(self):
        self.done = []
        self.stream = "the stream"

    def write_headers(self, start_line, headers, chunk=None):
        self.done.append(("write_headers", start_line.code, dict(headers), chunk))
        return "a future"

    def write(self, chunk):
        self.done.append(("write", chunk))

    def finish(self):
        self.done.append(("finish",))

    def close(self):
        self.done.append(("close",))

    def set_close_callback(self, callback):
        self.done.append(("set_close_callback", callback))


@pytest.fixture
def real():
    return Real()


@pytest.fixture
def recorder(real):
    return Recorder("GET", "the address", real)


def answer(recorder):
    """Record an answer of two pieces."""
    recorder.write_headers(OK, HTTPHeaders({"A": "1"}), b"first")
    recorder.write(b"second")
    recorder.finish()


ANSWER = [
    ("write_headers", 200, {"A": "1"}, b"first"),
    ("write", b"second"),
    ("finish",),
]


def test_nothing_is_sent_before_the_release(recorder, real):
    answer(recorder)

    assert [] == real.done
    assert (True, 200) == (recorder.finished, recorder.status_code)


def test_the_release_replays_all_once(recorder, real):
    answer(recorder)
    recorder.release()
    recorder.release()

    assert ANSWER == real.done


def test_a_recording_that_arrived_is_released_to_the_connection_given(recorder, real):
    answer(recorder)
    arrived = pickle.loads(pickle.dumps(recorder))
    arrived.release(real)

    assert (True, 200) == (arrived.finished, arrived.status_code)
    assert ANSWER == real.done


def test_a_recording_without_a_connection_cannot_be_released():
    with pytest.raises(TxInternalError, match="without a connection"):
        Recorder("GET", None).release()


def test_after_the_release_all_goes_to_the_connection(recorder, real):
    recorder.release()
    answer(recorder)
    recorder.set_close_callback(None)

    assert [*ANSWER, ("set_close_callback", None)] == real.done


def test_another_attribute_releases_to_the_connection(recorder, real):
    """On the loop thread nothing is run again."""
    recorder.write_headers(OK, HTTPHeaders(), b"early")

    assert "the stream" == recorder.stream
    assert [("write_headers", 200, {}, b"early")] == real.done


def test_a_close_callback_is_set_if_the_answer_is_not_complete(recorder, real):
    recorder.set_close_callback(print)
    recorder.release()

    assert [("set_close_callback", print)] == real.done


def test_a_close_callback_of_a_complete_answer_is_not_set(recorder, real):
    recorder.set_close_callback(print)
    answer(recorder)
    recorder.release()

    assert ANSWER == real.done


def test_headers_are_those_of_the_moment(recorder, real):
    headers = HTTPHeaders({"A": "1"})
    headers.add("B", "2")
    recorder.write_headers(OK, headers)
    headers.add("B", "3")
    headers["C"] = "4"
    recorder.release()

    assert [("write_headers", 200, {"A": "1", "B": "2"}, None)] == real.done


def test_headers_keep_values_that_a_copy_would_refuse(recorder, real):
    headers = HTTPHeaders()
    headers["A"] = " leading space"
    recorder.write_headers(OK, headers)
    recorder.release()

    assert [("write_headers", 200, {"A": " leading space"}, None)] == real.done


@pytest.mark.parametrize(
    ("name", "value"), [("A", "1\r\nB: 2"), ("A", "1\n"), ("A\nB", "1"), ("A\r", "1")]
)
def test_a_line_break_in_a_header_is_refused(name, value, recorder, real):
    headers = HTTPHeaders()
    headers["A"] = "fine"
    headers._as_list[name] = [value]

    with pytest.raises(ValueError, match=r"Illegal characters \(CR or LF\) in header"):
        recorder.write_headers(OK, headers)


def length(count):
    return HTTPHeaders({"Content-Length": str(count)})


def test_too_much_data_closes(recorder, real):
    recorder.write_headers(OK, length(3), b"12")
    with pytest.raises(HTTPOutputError, match="more data than Content-Length"):
        recorder.write(b"34")
    recorder.write(b"ignored")
    recorder.finish()
    recorder.release()

    assert recorder.finished
    assert ("close",) == real.done[1]


def test_too_little_data_closes(recorder, real):
    recorder.write_headers(OK, length(3), b"12")
    with pytest.raises(HTTPOutputError, match="1 bytes less than Content-Length"):
        recorder.finish()
    recorder.release()

    assert not recorder.finished
    assert ("close",) == real.done[-1]


@pytest.mark.parametrize(
    ("method", "start_line"), [("HEAD", OK), ("GET", NOT_MODIFIED)]
)
def test_some_answers_have_a_length_and_no_data(method, start_line, real):
    recorder = Recorder(method, None, real)
    recorder.write_headers(start_line, length(3))
    recorder.finish()

    with pytest.raises(HTTPOutputError, match="more data than Content-Length"):
        recorder.write(b"x")


def test_clear_forgets_the_answer(recorder, real):
    recorder.write_headers(OK, length(3), b"12")
    with pytest.raises(HTTPOutputError):
        recorder.finish()
    recorder.clear()
    answer(recorder)
    recorder.release()

    assert ANSWER == real.done


def test_what_was_released_cannot_be_cleared(recorder, real):
    recorder.release()
    answer(recorder)
    recorder.clear()

    assert recorder.finished
    assert ANSWER == real.done


def test_a_recorded_write_is_done(recorder):
    recorded = recorder.write(b"x")
    called: list[object] = []
    recorded.add_done_callback(called.append)

    async def wait():
        await recorded

    asyncio.run(wait())

    assert (True, None, None) == (
        recorded.done(),
        recorded.result(),
        recorded.exception(),
    )
    assert [recorded] == called


def test_special_methods_are_not_looked_up_at_the_connection(recorder, real):
    with pytest.raises(AttributeError):
        recorder.__len__()  # the look-up is what is tested

    assert [] == real.done
    assert not recorder.released
