"""Money that fronts, workers and unmarked code move: no read ever finds another sum."""

from __future__ import annotations

import random
import threading

import pytest

from tests.fronts.serving import served

pytestmark = pytest.mark.slow

BANK = """
accounts = TDict({number: 100 for number in range(200)})
moves = TVar(0)

def move(source, target, amount):
    accounts[source] -= amount
    accounts[target] += amount

@transactional
class Total(Tells):
    def get(self):
        self.write(f"{sum(accounts.values())}")

@transactional
class Some(Tells):
    def get(self):
        self.write(f"{sum(accounts[number] for number in range(200))}")

@transactional
class Moves(Tells):
    def post(self, source, target):
        move(int(source), int(target), 7)
        moves.set(moves.get() + 1)
        self.write(f"{moves.get()}")

@transactional
class Slow(Tells):
    def post(self, source, target):
        move(int(source), int(target), 7)
        time.sleep(0.008)
        moves.set(moves.get() + 1)
        self.write(f"{moves.get()}")

class Unmarked(Tells):
    def post(self, source, target):
        move(int(source), int(target), 7)
        moves.set(moves.get() + 1)
        self.write(f"{moves.get()}")

class Fewer(Tells):
    def get(self):
        self.write(f"{min(accounts.values())} {moves.get()}")

handlers += [
    ("/total", Total), ("/some", Some), (r"/moves/(\\d+)/(\\d+)", Moves),
    (r"/slow/(\\d+)/(\\d+)", Slow), (r"/unmarked/(\\d+)/(\\d+)", Unmarked),
    ("/fewer", Fewer),
]
"""

ROUNDS = 120


def test_the_sum_is_the_same_at_every_version(tmp_path):
    with served(tmp_path, BANK) as program:
        # GIVEN
        program.warm(
            ("GET", "/total", b""), ("GET", "/some", b""), ("POST", "/moves/0/1", b"")
        )
        before = int(program.ask("/fewer").body.split()[1])
        sums, counts, failed = [], [], []
        pids = set[int]()

        def ask(number):
            client, dice = program.connect(), random.Random(number)
            for _ in range(ROUNDS):
                kind = dice.choice(["total", "some", "moves", "moves", "moves"])
                if not dice.randrange(12):
                    kind = dice.choice(["slow", "unmarked"])
                if kind in ("total", "some"):
                    answer = client.ask(f"/{kind}")
                    sums.append(answer.body)
                else:
                    source, target = dice.sample(range(200), 2)
                    path = f"/{kind}/{source}/{target}"
                    answer = client.ask(path, method="POST")
                    counts.append(int(answer.body))
                if answer.status != 200:
                    failed.append(answer)
                pids.add(answer.pid)

        # WHEN
        threads = [threading.Thread(target=ask, args=(number,)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

        # THEN each move was made once, and is the only one of its number
        assert [] == failed
        assert {b"20000"} == set(sums)
        assert list(range(before + 1, before + 1 + len(counts))) == sorted(counts)
        assert before + len(counts) == int(program.ask("/fewer").body.split()[1])
        assert sum(map(program.is_front, pids)) == 2
