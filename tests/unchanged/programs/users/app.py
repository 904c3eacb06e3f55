"""Users and sessions that handlers are given by their routes."""

from __future__ import annotations

import hashlib
import json
import sys
from collections import defaultdict

from tornado.ioloop import IOLoop
from tornado.web import Application, RequestHandler


class Sessions:
    def __init__(self, secret):
        self.secret = secret
        self.open = {}
        self.failures = defaultdict(int)

    def begin(self, name):
        text = f"{self.secret} {name} {len(self.open)}"
        token = hashlib.sha256(text.encode()).hexdigest()[:12]
        self.open[token] = name
        return token


class BaseHandler(RequestHandler):
    def initialize(self, users, sessions=None):
        self.users = users
        self.sessions = sessions

    def data(self):
        try:
            return json.loads(self.request.body)
        except ValueError:
            return {}

    def refuse(self, status, reason):
        self.set_status(status)
        self.write({"error": reason})


class Register(BaseHandler):
    def post(self):
        name, password = self.data().get("name"), self.data().get("password")
        if not name or not password:
            return self.refuse(400, "name and password, please")
        if any(user["name"] == name for user in self.users):
            return self.refuse(409, "this name is taken")
        self.users.append({"name": name, "password": password})
        return self.write({"users": len(self.users)})

    def get(self):
        self.write({"users": [user["name"] for user in self.users]})


class Login(BaseHandler):
    def post(self):
        data = self.data()
        for user in self.users:
            if user["name"] == data.get("name"):
                if user["password"] == data.get("password"):
                    self.write({"token": self.sessions.begin(user["name"])})
                    return
                self.sessions.failures[user["name"]] += 1
        self.refuse(401, f"failures: {dict(self.sessions.failures)}")


class Profile(BaseHandler):
    def get_current_user(self):
        return self.sessions.open.get(self.get_argument("token", ""))

    def get(self):
        if self.current_user is None:
            return self.refuse(403, f"{len(self.sessions.open)} others are in")
        return self.write({"name": self.current_user})


def make_app():
    users = []
    both = {"users": users, "sessions": Sessions("secret")}
    return Application(
        [("/register", Register, {"users": users}), ("/login", Login, both)]
        + [("/profile", Profile, both)]
    )


def main():
    http_server = make_app().listen(int(sys.argv[1]), "127.0.0.1")
    [socket] = http_server._sockets.values()
    print("port", socket.getsockname()[1], flush=True)
    IOLoop.current().start()


if __name__ == "__main__":
    main()
