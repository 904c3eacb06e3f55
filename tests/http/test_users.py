"""Who asks: signed cookies, XSRF, `current_user` and `@authenticated`."""

from __future__ import annotations

import re

import pytest
from tornado.web import Application, RequestHandler, authenticated

from tests.messages import Request
from tests.serving import pair_of
from txloop import TVar, transactional

posted = TVar(0)


@transactional
class Signed(RequestHandler):
    def get(self):
        value = self.get_signed_cookie("user")
        self.write(f"{value.decode() if value else None}")

    def post(self):
        self.set_signed_cookie("user", self.get_argument("user"), expires_days=None)

    def check_xsrf_cookie(self):
        pass


@transactional
class Form(RequestHandler):
    def get(self):
        self.write(self.xsrf_form_html())

    def post(self):
        posted.set(posted.get() + 1)
        self.write("posted")


@transactional
class Users(RequestHandler):
    def get_current_user(self):
        return self.get_signed_cookie("user")

    def get_login_url(self):
        return "/login"


@transactional
class Private(Users):
    @authenticated
    def get(self):
        self.write(b"private to " + self.current_user)

    @authenticated
    def post(self):
        self.write("private")

    def check_xsrf_cookie(self):
        pass


@transactional
class FromPrepare(Users):
    def prepare(self):
        self.current_user = self.get_argument("user")

    @authenticated
    def get(self):
        self.write(self.current_user)


def make_application():
    return Application(
        [
            ("/signed", Signed),
            ("/form", Form),
            ("/private", Private),
            ("/from-prepare", FromPrepare),
        ],
        cookie_secret="a secret of this test",
        xsrf_cookies=True,
        xsrf_cookie_kwargs={"httponly": True, "samesite": "Strict"},
    )


def log_in(server):
    """Return the headers of a client who has got a signed cookie."""
    body = b"user=me"
    form = {"Content-Type": "application/x-www-form-urlencoded"}
    cookie = server.fetch("POST", "/signed", form, body).cookies()["user"]
    return {"Cookie": f'user="{cookie}"'}


def xsrf_token(server):
    """Return the token of a new form, and the headers of the client who got it."""
    answer = server.get("/form")
    [token] = re.findall(r'value="([^"]+)"', answer.body.decode())
    return token, {"Cookie": f"_xsrf={answer.cookies()['_xsrf']}"}


def test_a_signed_cookie_comes_back(pair):
    assert b"me" == pair.server.fetch("GET", "/signed", log_in(pair.server)).body


def test_a_signed_cookie_of_a_stock_server_is_good(pair):
    assert b"me" == pair.server.fetch("GET", "/signed", log_in(pair.stock)).body
    assert b"me" == pair.stock.fetch("GET", "/signed", log_in(pair.server)).body


@pytest.mark.parametrize(
    "cookie", ["", "user=me", 'user="2|1:0|10:1|4:user|4:bWU=|00"']
)
def test_a_bad_signature_is_none(cookie, pair):
    answer = pair.same(lambda server: server.get("/signed", Cookie=cookie))

    assert b"None" == answer.body


@pytest.mark.parametrize("where", ["argument", "X-Xsrftoken", "X-Csrftoken"])
def test_a_form_with_its_token_is_taken(where, pair):
    def talk(server):
        token, headers = xsrf_token(server)
        body = b""
        if where == "argument":
            headers["Content-Type"] = "application/x-www-form-urlencoded"
            body = f"_xsrf={token}".encode()
        else:
            headers[where] = token
        return server.fetch("POST", "/form", headers, body)

    assert b"posted" == pair.same(talk).body


def test_forms_without_a_valid_token_are_refused(pair):
    def talk(server):
        before = posted.get()
        _, headers = xsrf_token(server)
        bad = [
            {},
            headers,
            {**headers, "X-Xsrftoken": "wrong"},
            {"X-Xsrftoken": "without cookie"},
        ]
        answers = [server.fetch("POST", "/form", one, b"") for one in bad]
        return answers, posted.get() - before

    answers, count = pair.same(talk)

    assert [403] * 4 == [answer.status for answer in answers]
    assert 0 == count


def test_a_token_of_a_stock_server_is_good(pair):
    token, headers = xsrf_token(pair.stock)

    answer = pair.server.fetch("POST", "/form", {**headers, "X-Xsrftoken": token}, b"")

    assert 200 == answer.status


def test_another_form_keeps_the_cookie_of_the_first(pair):
    def talk(server):
        _, headers = xsrf_token(server)
        return server.fetch("GET", "/form", headers).cookies()

    assert {} == pair.same(talk)


def test_a_user_gets_in(pair):
    answer = pair.same(lambda server: server.fetch("GET", "/private", log_in(server)))

    assert b"private to me" == answer.body


@pytest.mark.parametrize(
    ("request_", "status"),
    [
        (Request("GET", "/private?a=1"), 302),
        (Request("POST", "/private", body=b""), 403),
        (Request("GET", "/from-prepare?user="), 302),
        (Request("GET", "/from-prepare?user=you"), 200),
    ],
    ids=["get", "post", "from prepare", "from prepare, logged in"],
)
def test_a_stranger_is_sent_to_the_login(request_, status, pair):
    [answer] = pair.same(lambda server: server.fetch_together([request_]))

    assert status == answer.status


def test_cross_origin_protection(kind):
    """Tornado checks this before `prepare`, in `_execute`."""
    request = Request("POST", "/form", {"Sec-Fetch-Site": "cross-site"}, b"")

    def make():
        return Application([("/form", Form)], cross_origin_protection=True)

    with pair_of(kind, make) as pair:
        pair.same(lambda server: server.fetch_together([request]))


@pytest.mark.at_owner("it asks for nothing more")
def test_all_ran_where_it_should(pair):
    assert pair.server.sent_away()
