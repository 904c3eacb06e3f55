from __future__ import annotations

import json

import pytest
from tornado.testing import AsyncHTTPTestCase

from handlers.prime_numbers import LIMIT, parse_number, primes_up_to
from handlers.primes import make_application
from tests.logs import expect_log
from txloop.web.delegate import TOLD


@pytest.mark.parametrize(
    ("number", "expected"),
    [
        (0, []),
        (1, []),
        (2, [2]),
        (3, [2, 3]),
        (4, [2, 3]),
        (30, [2, 3, 5, 7, 11, 13, 17, 19, 23, 29]),
    ],
)
def test_primes_up_to(number, expected):
    assert expected == primes_up_to(number)


@pytest.mark.parametrize(
    ("text", "number"), [("0", 0), ("10000", 10000), ("007", 7), (str(LIMIT), LIMIT)]
)
def test_a_number_is_read(text, number):
    assert number == parse_number(text)


@pytest.mark.parametrize(
    "text", ["", "ten", "-1", "+1", "1.5", "1_000", " 1", "0x1", "²", "٣"]
)
def test_what_is_not_a_number_is_refused(text):
    with pytest.raises(ValueError, match=r"not a whole number: .* try /100"):
        parse_number(text)


@pytest.mark.parametrize("text", [str(LIMIT + 1), "9" * 5000])
def test_a_number_above_the_limit_is_refused_in_few_words(text):
    with pytest.raises(ValueError, match=f"above the limit of {LIMIT}$") as raised:
        parse_number(text)

    assert len(str(raised.value)) < 100


class PrimesTest(AsyncHTTPTestCase):
    """The answers of the handlers, on whatever loop the tests run."""

    def get_app(self):
        vars(self.io_loop)[TOLD] = True  # that its marks change nothing there
        return make_application()

    def fetch_error(self, path, status, **arguments):
        """Return the error in the JSON of an answer with that status."""
        verb = arguments.get("method", "GET")
        with expect_log("tornado.access", f"^{status} {verb} "):
            response = self.fetch(path, **arguments)
        assert response.code == status
        assert response.headers["Content-Type"].startswith("application/json")
        document = json.loads(response.body)
        assert list(document) == ["error"]
        return document["error"]

    def test_primes(self):
        response = self.fetch("/20")

        assert response.code == 200
        assert response.headers["Content-Type"].startswith("application/json")
        expected = {"primes": [2, 3, 5, 7, 11, 13, 17, 19]}
        assert expected == json.loads(response.body)

    def test_a_word_is_400(self):
        assert "not a whole number: 'many'" in self.fetch_error("/many", 400)

    def test_whatever_comes_after_the_slash_is_400(self):
        assert "not a whole number: '10/20'" in self.fetch_error("/10/20", 400)

    def test_bytes_that_are_no_text_are_400(self):
        with expect_log("tornado.general", "Invalid unicode"):
            error = self.fetch_error("/%ff", 400)

        assert error == "400 Bad Request"

    def test_above_the_limit_is_400(self):
        assert f"the limit of {LIMIT}" in self.fetch_error(f"/{LIMIT + 1}", 400)

    def test_another_verb_is_405(self):
        error = self.fetch_error("/10", 405, method="POST", body="")

        assert error == "405 Method Not Allowed"

    def test_the_page_names_the_address_it_was_reached_by(self):
        response = self.fetch("/", headers={"Host": "example.org:81"})

        page = response.body.decode()
        assert response.code == 200
        assert "siege -b -c 50 -t 20S http://example.org:81/5000" in page
        assert "curl -so /dev/null http://example.org:81/20000" in page
        assert '<a href="/10000">' in page
        assert "50,000" in page

    def test_the_page_loads_nothing_from_elsewhere(self):
        page = self.fetch("/").body.decode()

        assert "<script src" not in page
        assert "src=" not in page
        assert "url(" not in page

    def test_the_page_escapes_the_address(self):
        page = self.fetch("/", headers={"Host": "a<b>"}).body.decode()

        assert "a<b>" not in page
