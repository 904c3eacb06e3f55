from __future__ import annotations

import pytest

from bench.errors import LoadError
from bench.siege_report import SiegeReport, parse_report

JSON = """{\t"transactions":\t\t\t        2092,
\t"availability":\t\t\t      100.00,
\t"elapsed_time":\t\t\t        2.68,
\t"data_transferred":\t\t        0.02,
\t"response_time":\t\t        0.00,
\t"transaction_rate":\t\t      780.60,
\t"throughput":\t\t\t        0.04,
\t"concurrency":\t\t\t        4.82,
\t"successful_transactions":\t        2090,
\t"failed_transactions":\t\t           3,
\t"longest_transaction":\t\t        0.01,
\t"shortest_transaction":\t\t        0.00
}
"""
GREETING = """New configuration template added to /home/me/.siege
Run siege -C to view the current settings in that file

"""
CAPPED = """
================================================================
WARNING: The number of users is capped at 5.  To increase this
         limit, search your .siegerc file for 'limit' and change
         its value. Make sure you read the instructions there...
================================================================
"""
SUMMARY = """** SIEGE 4.0.7
** Preparing 3 concurrent users for battle.
The server is now under siege...
\x1b[0mTransactions:\t\t           9 hits
Availability:\t\t      100.00 %
Elapsed time:\t\t        0.50 secs
Data transferred:\t        0.00 MB
Successful transactions:           9
Failed transactions:\t           0
Longest transaction:\t        0.01
"""


def test_reads_the_fields():
    report = parse_report(JSON, "")

    assert SiegeReport(2092, 2090, 3, 2.68, users_capped=False) == report


def test_text_before_the_object_is_passed_over():
    report = parse_report(GREETING + JSON, "")

    assert parse_report(JSON, "") == report


def test_the_last_object_counts():
    first = JSON.replace("2092", "1")

    report = parse_report(first + "{ not this }\n" + JSON, "")

    assert report.transactions == 2092


def test_text_after_the_object_is_passed_over():
    report = parse_report(JSON + "\nLifting the server siege...\n", "")

    assert report.transactions == 2092


def test_capped_users_are_seen():
    report = parse_report(CAPPED + JSON, "")

    assert report.users_capped


def test_summary_on_stderr_is_read_when_there_is_no_json():
    report = parse_report("\n", SUMMARY)

    assert SiegeReport(9, 9, 0, 0.5, users_capped=False) == report


@pytest.mark.parametrize("stdout", ["", "{", "{}", '{ "transactions": 5 }', "}{"])
def test_no_report_is_an_error_that_quotes_siege(stdout):
    with pytest.raises(LoadError, match=r"it said: .*cannot open"):
        parse_report(stdout, "siege: cannot open it")
