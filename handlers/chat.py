"""A chat: whoever says something says it to all WebSockets, in one transaction.

Plain Tornado: the sockets are in a set, and what is said goes through a loop over them.
The set is a `txloop.TSet`, the two classes are marked, and so what many say at once is
worked on in parallel, and reaches each socket once, in the same order as all others.
"""

from __future__ import annotations

import pathlib
from typing import NamedTuple

import tornado.web
import tornado.websocket

import txloop

__all__ = ["make_application"]

_HERE = pathlib.Path(__file__).parent

_KEPT = 50  # lines that newcomers are shown
_LONGEST_NAME = 20
_LONGEST_LINE = 500


class Line(NamedTuple):
    """Something that was said."""

    number: int
    name: str
    text: str


class Chat(txloop.TObject):
    """All that the handlers share.

    Attributes:
        sockets: Those that listen.
        lines: The newest that were said.
        said: How many were said so far.
    """

    sockets: txloop.TSet[tornado.websocket.WebSocketHandler]
    lines: txloop.TDeque[Line]
    said: int

    def say(self, name: str, text: str) -> Line:
        """Tell a line to all that listen; called in a transaction.

        Raises:
            ValueError: if there is nothing to tell, or too much.
        """
        name, text = name.strip(), text.strip()
        if not 0 < len(name) <= _LONGEST_NAME or not 0 < len(text) <= _LONGEST_LINE:
            raise ValueError(
                f"a name has 1 to {_LONGEST_NAME} characters, a line 1 to "
                f"{_LONGEST_LINE}"
            )
        self.said += 1
        line = Line(self.said, name, text)
        self.lines.append(line)
        for socket in self.sockets:
            socket.write_message(line._asdict())
        return line


@txloop.transactional
class SayHandler(tornado.web.RequestHandler):
    """Answer `POST /say`, with `name` and `text`: `curl -d name=me -d text=hello`."""

    def initialize(self, chat: Chat) -> None:
        """Take what the handlers share."""
        self.chat = chat

    def post(self) -> None:
        """Say it, and write its number; 400 if it cannot be said."""
        name = self.get_body_argument("name", "")
        try:
            line = self.chat.say(name, self.get_body_argument("text", ""))
        except ValueError as error:
            self.set_status(400)
            self.write({"error": str(error)})
        else:
            self.write({"number": line.number})


@txloop.transactional
class ListenHandler(tornado.websocket.WebSocketHandler):
    """Answer `/listen?name=NAME`: a WebSocket that hears all, and says what it gets."""

    def initialize(self, chat: Chat) -> None:
        """Take what the handlers share."""
        self.chat = chat

    def open(self) -> None:
        """Tell what was said last, and listen; on the loop thread."""
        self.name = self.get_query_argument("name", "")
        for line in self.chat.lines:
            self.write_message(line._asdict())
        self.chat.sockets.add(self)

    def on_close(self) -> None:
        """Listen no more; on the loop thread."""
        self.chat.sockets.discard(self)

    def on_message(self, message: str | bytes) -> None:
        """Say it: a transaction."""
        try:
            self.chat.say(self.name, str(message))
        except ValueError as error:
            self.write_message({"error": str(error)})


class PageHandler(tornado.web.RequestHandler):
    """Answer `GET /` with the page."""

    def get(self) -> None:
        """Write it."""
        self.render("chat.html", longest_name=_LONGEST_NAME, longest=_LONGEST_LINE)

    def get_template_path(self) -> str:
        """Return the directory of this module: the page lies beside it."""
        return str(_HERE)


def make_application() -> tornado.web.Application:
    """Return the application, where nothing has been said yet."""
    lines: txloop.TDeque[Line] = txloop.TDeque(maxlen=_KEPT)
    chat = Chat(sockets=txloop.TSet(), lines=lines, said=0)
    return tornado.web.Application(
        [
            ("/", PageHandler),
            ("/say", SayHandler, {"chat": chat}),
            ("/listen", ListenHandler, {"chat": chat}),
        ]
    )
