"""What the owner's code may tell of a front's commit, another front knows."""

from __future__ import annotations

import socket
import threading

import pytest

from tests.fronts.serving import served

pytestmark = pytest.mark.slow

TELLS_AT_ONCE = """
value = TVar(0)
told = [0]

@transactional
class Value(Tells):
    def get(self):
        self.write(f"{value.get()}")

    def post(self):
        value.set(int(self.request.body))

def tell_and_block(out):
    # A callback of the program's own, in the iteration in which the commit arrives.
    if value.get() != told[0]:
        told[0] = value.get()
        out.send(b"%d\\n" % told[0])
        time.sleep(0.05)

def often():
    IOLoop.current().call_later(0, often)
    tell_and_block(Streams.out)

class Streams(RequestHandler):
    def get(self):
        port = int(self.get_argument("port"))
        Streams.out = socket.create_connection(("127.0.0.1", port))
        IOLoop.current().call_later(0, often)

handlers += [("/value", Value), ("/streams", Streams)]
"""


def test_what_a_callback_tells_of_a_commit_is_seen_in_other_fronts(tmp_path):
    with served(tmp_path, TELLS_AT_ONCE) as program:
        # GIVEN a callback of the owner's that tells of each new value, and then blocks
        program.warm(("POST", "/value", b"0"), ("GET", "/value", b""))
        writer, one = program.on_front()
        reader, _ = program.on_front((one,))
        with socket.create_server(("127.0.0.1", 0)) as listener:
            program.ask(f"/streams?port={listener.getsockname()[1]}")
            heard, _ = listener.accept()
        lines = heard.makefile()

        # WHEN
        stale = []
        for number in range(1, 30):

            def write(number=number):
                writer.ask("/value", method="POST", body=b"%d" % number)

            thread = threading.Thread(target=write)
            thread.start()
            line = int(lines.readline())
            answer = reader.ask("/value")
            if int(answer.body) < line:
                stale.append((line, answer))
            thread.join()
        heard.close()
        lines.close()

        # THEN
        assert [] == stale


ALWAYS_BUSY = """
def often():
    IOLoop.current().call_later(0, often)

class Often(RequestHandler):
    def get(self):
        IOLoop.current().call_later(0, often)

handlers.append(("/often", Often))
"""


def test_fronts_go_on_beside_code_that_runs_in_each_iteration(tmp_path):
    with served(tmp_path, ALWAYS_BUSY) as program:
        client, _ = program.on_front()

        # WHEN there is no moment at which all that the owner did is known elsewhere
        program.ask("/often")

        # THEN
        for _ in range(20):
            program.in_front(client, "/pid")
