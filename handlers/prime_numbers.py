"""The work of the primes server: plain Python, no Tornado, no txloop.

It stands apart from the handlers so that the benchmark's competitors, which must
not import txloop, do exactly the same work.
"""

from __future__ import annotations

LIMIT = 50_000
"""The largest number that is answered; it costs some seconds of one core."""

_LONGEST_QUOTE = 40


def is_prime(number: int) -> bool:
    """Return whether no number from 2 to `number` - 1 divides `number`."""
    # The loop of the 2014 benchmark, kept as naive as it was: it is the CPU load.
    for divisor in range(2, number):  # noqa: SIM110
        if number % divisor == 0:
            return False
    return True


def primes_up_to(number: int) -> list[int]:
    """Return all primes up to and including `number`, in order."""
    return [candidate for candidate in range(2, number + 1) if is_prime(candidate)]


def parse_number(text: str) -> int:
    """Return the number that `text` names.

    Raises:
        ValueError: `text` is not a whole number from 0 to `LIMIT`; the message is
            meant for whoever sent it.
    """
    if not (text.isascii() and text.isdecimal()):
        raise ValueError(f"not a whole number: {_quote(text)}; try /100")
    digits = text.lstrip("0") or "0"
    # The length is compared first: int() of a very long text is slow or refused.
    if len(digits) > len(str(LIMIT)) or int(digits) > LIMIT:
        raise ValueError(f"{_quote(text)} is above the limit of {LIMIT}")
    return int(digits)


def _quote(text: str) -> str:
    if len(text) > _LONGEST_QUOTE:
        text = text[:_LONGEST_QUOTE] + "..."
    return repr(text)
