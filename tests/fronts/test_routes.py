"""Routes that change while fronts have copies of them."""

from __future__ import annotations

import pytest

from tests.fronts.serving import served, until

pytestmark = pytest.mark.slow

HANDLERS = """
@transactional
class Marked(Tells):
    def get(self):
        self.write("first")

@transactional
class Second(Tells):
    def get(self):
        self.write("second")

class Other(Tells):
    def get(self):
        self.write("other")

class Change(RequestHandler):
    def get(self, way):
        application = self.application
        if way == "host":
            application.add_handlers("here", [("/marked", Other)])
        elif way == "marked":
            application.add_handlers("here", [("/marked", Second)])
        elif way == "target":
            application.wildcard_router.rules[0].target = Other
        elif way == "default":
            application.settings["default_handler_class"] = Other
        self.write("changed")

handlers[:0] = [("/marked", Marked), ("/second", Second), ("/change/(.*)", Change)]
"""


@pytest.mark.parametrize("way", ["host", "target"])
def test_no_front_answers_by_routes_that_are_no_more(tmp_path, way):
    with served(tmp_path, HANDLERS) as program:
        client = program.connect()
        assert b"first" == program.in_front(client, "/marked").body

        program.ask(f"/change/{way}")

        assert b"other" == client.ask("/marked").body
        assert b"other" == program.ask("/marked").body


def test_fronts_are_there_again_with_the_new_routes(tmp_path):
    with served(tmp_path, HANDLERS) as program:
        client = program.connect()
        assert b"first" == program.in_front(client, "/marked").body

        program.ask("/change/marked")
        answers = []

        def in_front_again():
            answers.append(client.ask("/marked"))
            return program.is_front(answers[-1].pid)

        until(in_front_again)

        assert {b"second"} == {answer.body for answer in answers}


def test_a_new_default_handler_answers_what_has_no_route(tmp_path):
    with served(tmp_path, HANDLERS) as program:
        client = program.connect()
        program.in_front(client, "/pid")
        assert 404 == client.ask("/nothing").status

        program.ask("/change/default")

        assert b"other" == client.ask("/nothing").body
