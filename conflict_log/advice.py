"""What to do about a row: one rule for each thing that is known to cost so much.

A rule looks at the kind of the loss and at the source text of both sides. The first
that fits is taken, so the particular ones come before the general ones.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from conflict_log import formats
from conflict_log.formats import KIND_NAMES

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from conflict_log.report import Report
    from conflict_log.rows import Row
    from conflict_log.sources import Text

__all__ = ["RULES", "Evidence", "Rule", "advise", "pairs_of"]

_INEVITABLE: Final = frozenset({KIND_NAMES[formats.INEVITABLE]})
_WRITES: Final = frozenset({KIND_NAMES[formats.WRITE_WRITE]})
_READS: Final = frozenset({KIND_NAMES[formats.WRITE_READ]})
_DATA: Final = _WRITES | _READS
_NO_WORKER: Final = frozenset({KIND_NAMES[formats.WAIT_FREE]})
_STOPS: Final = frozenset(
    {KIND_NAMES[formats.WAIT_SYNC_PAUSE], KIND_NAMES[formats.WAIT_SYNCING]}
)
_ANY: Final = frozenset(KIND_NAMES)

# What txloop calls items of a list that were read together.
_RANGE: Final = re.compile(r"\[\d+:\d+\]$")
# What it calls one of them, or what a dict has for a key.
_KEY: Final = re.compile(r"\[[^:]+\]$")
_LONG: Final = 5
_UNEVEN: Final = 0.2


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a rule can look at.

    Attributes:
        row: The row.
        texts: The source lines of its places, victim's first.
        report: The whole report.
        pairs: Every victim's place with its culprit's, in the whole report.
    """

    row: Row
    texts: Sequence[Text]
    report: Report
    pairs: Collection[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Rule:
    """One piece of advice, and when it is given.

    Attributes:
        name: What the tests and the exports call it.
        kinds: The kinds of losses that it is about.
        fits: Whether it applies.
        advice: What to do, as a sentence without its full stop.
    """

    name: str
    kinds: frozenset[str]
    fits: Callable[[Evidence], bool]
    advice: str


def advise(evidence: Evidence) -> Rule | None:
    """Return the rule to follow, None if nothing is known."""
    kind = evidence.row.kinds[0] if evidence.row.kinds else ""
    return next(
        (one for one in RULES if kind in one.kinds and one.fits(evidence)), None
    )


def _text(pattern: str) -> Callable[[Evidence], bool]:
    """Return a test for one of the source lines to hold something."""
    search = re.compile(pattern).search
    return lambda evidence: any(search(one.line) for one in evidence.texts)


def _victims_text(pattern: str) -> Callable[[Evidence], bool]:
    """Return a test for the first source line, that of the victim."""
    search = re.compile(pattern).search
    return lambda evidence: any(search(one.line) for one in evidence.texts[:1])


def _file(pattern: str) -> Callable[[Evidence], bool]:
    """Return a test for one of the places to be in a file of such a name."""
    search = re.compile(pattern).search

    def fits(evidence: Evidence) -> bool:
        sites = [*evidence.row.victims, *evidence.row.culprits]
        return any(search(one.file) for one in sites)

    return fits


def _is_first(evidence: Evidence) -> bool:
    return any(one.first for one in evidence.texts)


def pairs_of(report: Report) -> frozenset[tuple[str, str]]:
    """Return who has lost to whom, by their places."""
    return frozenset(
        (one.victim.place, one.culprit.place)
        for one in report.losses
        if one.victim and one.culprit
    )


def _both_directions(evidence: Evidence) -> bool:
    """Tell whether two lines abort one another."""
    return any(
        one.victim
        and one.culprit
        and one.victim.place != one.culprit.place
        and (one.culprit.place, one.victim.place) in evidence.pairs
        for one in evidence.row.losses
    )


def _is_long(evidence: Evidence) -> bool:
    """Tell whether the attempts lost are far longer than those that commit."""
    row, totals = evidence.row, evidence.report.totals
    if not row.aborts or not totals.commits:
        return False
    mean = totals.committed_ns / totals.commits
    return row.aborted_ns / row.aborts > _LONG * mean


def _is_uneven(evidence: Evidence) -> bool:
    return evidence.row.lost_ns > _UNEVEN * evidence.report.totals.worker_ns


def _other_keys(evidence: Evidence) -> bool:
    """Tell whether the two sides used different keys of one container."""
    for one in evidence.row.losses:
        if one.victim and one.culprit and one.victim.cell and one.culprit.cell:
            ours, theirs = one.victim.cell, one.culprit.cell
            if ours != theirs and ours.split("[")[0] == theirs.split("[")[0]:
                return True
    return False


def _one_key(evidence: Evidence) -> bool:
    """Tell whether both sides used the same key or item."""
    for one in evidence.row.losses:
        ours = one.victim.cell if one.victim else ""
        theirs = one.culprit.cell if one.culprit else ""
        if _KEY.search(ours) and theirs in (ours, ""):
            return True
    return False


_all_read = _victims_text(
    r"\b(list|tuple|set|dict|sorted|sum|min|max|any|all)\("
    r"|\bfor\b.+\bin\b|\.(copy|items|values)\(\)"
)


def _reads_whole(evidence: Evidence) -> bool:
    """Tell whether one side used a whole container, of which the other sets a key."""
    cells = {one.victim.cell for one in evidence.row.losses if one.victim}
    names = [re.escape(cell.rpartition(".")[2]) for cell in cells if "[" not in cell]
    return any(
        name and re.search(rf"\b{name}\[.+\]\s*[-+*/|&]?=[^=]", text.line)
        for name in names
        for text in evidence.texts[1:]
    )


def _is_over_capacity(evidence: Evidence) -> bool:
    """Tell whether so much was read that a range of a container counts as read."""
    sides = ((one.victim, one.culprit) for one in evidence.row.losses)
    return any(one and _RANGE.search(one.cell) for side in sides for one in side)


def _always(_: Evidence) -> bool:
    return True


RULES: Final = (
    Rule(
        "clock",
        _INEVITABLE,
        _text(
            r"\btime\.(time|clock|monotonic|perf_counter)(_ns)?\(|datetime\.(utc)?now"
        ),
        "read the clock with txloop.transaction.time(): that can still be undone",
    ),
    Rule(
        "pure",
        _INEVITABLE,
        _text(r"\b(hashlib|zlib|binascii|hmac|md5|sha1|sha256|crc32|compute_etag)\b"),
        "this call changes nothing, so let it run before the transaction, or not at"
        " all: an override of compute_etag that returns None saves Tornado's",
    ),
    Rule(
        "random",
        _INEVITABLE,
        _text(r"\brandom\.|\buuid[14]\b|\burandom\(|\bsecrets\."),
        "give each worker a generator of its own",
    ),
    Rule(
        "output",
        _INEVITABLE,
        _text(
            r"\bprint\(|\blog(ging|ger|s)?\.|\bsys\.std|\.write\(|\bopen\(|\bsocket\b"
            r"|\.send(all|to)?\(|\.recv\(|\bsubprocess\b|\bos\.(write|system|remove)\b"
        ),
        "let it wait for the commit: txloop.on_commit(...)",
    ),
    Rule(
        "first instruction",
        _INEVITABLE,
        _is_first,
        "inevitable from its first line on, the whole transaction runs alone: split it,"
        " and do this part outside",
    ),
    Rule(
        "library",
        _DATA,
        _file(r"(^|/)(_weakrefset|abc|_py_abc|re|sre_compile|ioloop|transaction)\.py$"),
        "shared state inside of a library: look for a later version, or keep the call"
        " out of transactions",
    ),
    Rule(
        "everything",
        _READS,
        lambda evidence: _reads_whole(evidence) or _all_read(evidence),
        "it reads everything, so any change conflicts: read only what is needed, or"
        " keep the result up to date where things change",
    ),
    Rule(
        "both directions",
        _DATA,
        _both_directions,
        "each of these two lines reads what the other changes: let one of them read"
        " less, or make both parts of one short transaction",
    ),
    Rule(
        "capacity",
        _DATA,
        _is_over_capacity,
        "so many items are read that a whole range counts as read, and any change in it"
        " conflicts: read less of it in one transaction, or do the work in chunks",
    ),
    Rule(
        "counter",
        _DATA,
        _text(r"[-+]=\s*\d|\[[^]]*\]\s*[-+]="),
        "count with a txloop.TCounter: additions do not conflict",
    ),
    Rule(
        "list",
        _DATA,
        _text(r"\.(append|appendleft|extend|pop|popleft|insert|put|get_nowait)\("),
        "each changes the same end of one list: use a txloop.Channel, or a list for"
        " each worker",
    ),
    Rule(
        "cache",
        _DATA,
        _text(r"\bnot in\b|\.setdefault\(|\bcache\b.*\]\s*=[^=]"),
        "fill the cache outside of the transaction, or keep one for each worker",
    ),
    Rule(
        "same value",
        _DATA,
        _text(r"[^=!<>]=\s*(True|False|None|\d+|'[^']*'|\"[^\"]*\")\s*$"),
        "test before you set: a write of the same value conflicts, a read does not",
    ),
    Rule(
        "settings",
        _DATA,
        _text(r"\b(config|settings|session|options)\b"),
        "write it only when it changes",
    ),
    Rule(
        "one key",
        _DATA,
        _one_key,
        "all of them use this one key: let what takes long be a transaction of"
        " its own, before a short one that reads and writes",
    ),
    Rule(
        "keys",
        _DATA,
        lambda evidence: (
            _other_keys(evidence) or _text(r"\]\s*=[^=]|\.add\(")(evidence)
        ),
        "keep it in a txloop.TDict or TSet, where other keys do not conflict",
    ),
    Rule(
        "long",
        _DATA | _INEVITABLE,
        _is_long,
        "these attempts are far longer than most and lose against short ones: split the"
        " transaction",
    ),
    Rule(
        "workers",
        _NO_WORKER,
        _always,
        "raise workers= if there are cores left; else they wait for the loop thread",
    ),
    Rule(
        "barrier",
        _STOPS,
        _is_uneven,
        "workers wait for the longest of a round: start the longest first, or make them"
        " of one size",
    ),
)
"""All rules, the particular ones first."""
