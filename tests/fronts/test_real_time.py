"""What is sent after another request's answer sees what that has written, anywhere."""

from __future__ import annotations

import threading

import pytest

from tests.fronts.serving import request, served

pytestmark = [
    pytest.mark.slow,
    pytest.mark.leaks_ok("the program is for all tests"),
]

HANDLERS = """
counter, cells = TVar(0), TDict({str(number): 0 for number in range(1000)})
value = TVar(0)

@transactional
class Value(Tells):
    def get(self):
        self.write(f"{value.get()}")

    def post(self):
        value.set(int(self.request.body))

class Unmarked(Tells):
    def post(self):
        value.set(int(self.request.body))

@transactional
class Long(Tells):
    def post(self):
        time.sleep(0.02)
        value.set(int(self.request.body))

@transactional
class Named(Tells):
    def get(self, name):
        self.write(f"{total.get()}")

    def post(self, name):
        total.set(total.get() + 1)
        names[name] = total.get()
        self.write(f"{names[name]}")

total, names = TVar(0), TDict()

class Suspended(Tells):
    async def post(self):
        await asyncio.sleep(0)
        value.set(int(self.request.body))

@transactional
class Counter(Tells):
    def get(self):
        self.write(f"{counter.get()}")

    def post(self):
        counter.value += 1
        self.write(f"{counter.value}")

@transactional
class Cells(Tells):
    def get(self):
        self.write(f"{sum(cells.values())}")

    def post(self, cell):
        cells[cell] += 1

handlers += [
    ("/value", Value), ("/unmarked", Unmarked), ("/long", Long),
    ("/suspended", Suspended), ("/counter", Counter), ("/cells", Cells),
    (r"/cells/(\\d+)", Cells), (r"/named/(\\w+)", Named),
]
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    """Serve with two fronts."""
    with served(tmp_path_factory.mktemp("fronts"), HANDLERS) as program:
        program.warm(
            ("GET", "/value", b""),
            ("POST", "/value", b"0"),
            ("POST", "/counter", b""),
            ("POST", "/cells/0", b""),
            ("POST", "/named/none", b""),
        )
        for _ in range(3):
            program.ask("/long", method="POST", body=b"0")
        yield program


@pytest.mark.parametrize(
    ("path", "rounds"),
    [("/value", 300), ("/unmarked", 200), ("/long", 15), ("/suspended", 100)],
)
def test_what_was_answered_is_seen_through_the_other_front(program, path, rounds):
    # GIVEN
    writer, one = program.on_front()
    reader, _ = program.on_front((one,))
    others = [reader, *(program.connect() for _ in range(3)), writer]
    pids = set[int]()

    # WHEN
    for number in range(1, rounds):
        written = writer.ask(path, method="POST", body=b"%d" % number)
        seen = [other.ask("/value") for other in others]
        pids |= {answer.pid for answer in (written, *seen)}

        # THEN
        assert {b"%d" % number} == {answer.body for answer in seen}

    assert any(map(program.is_front, pids))


def at_once(program, count, ask):
    """Have clients ask at the same time, each on its connection; return the answers."""
    found = []
    start = threading.Barrier(count)

    def run(number):
        client = program.connect()
        start.wait()
        found.extend(ask(client, number))

    threads = [threading.Thread(target=run, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return found


def test_each_answer_of_a_counter_is_another(program):
    before = int(program.ask("/counter").body)

    # WHEN
    answers = at_once(
        program,
        8,
        lambda client, _: [client.ask("/counter", method="POST") for _ in range(60)],
    )

    # THEN
    numbers = sorted(int(answer.body) for answer in answers)
    assert list(range(before + 1, before + 481)) == numbers
    assert 480 + before == int(program.ask("/counter").body)
    assert any(program.is_front(answer.pid) for answer in answers)


def test_no_update_is_lost_where_requests_come_in_bursts(program):
    """A front's replica is newer than its outcomes when these leave, sometimes."""

    def ask(client, number):
        answers = []
        for turn in range(10):
            names = [f"/named/n{number}x{turn}x{count}" for count in range(8)]
            client.send(b"".join(request(name, method="POST") for name in names))
            answers += [client.answer() for _ in names]
        return answers

    # WHEN
    before = int(program.ask("/named/none").body)
    answers = at_once(program, 12, ask)

    # THEN
    totals = sorted(int(answer.body) for answer in answers)
    assert list(range(before + 1, before + 961)) == totals


def test_nothing_is_lost_of_what_is_added_to_many_cells(program):
    before = int(program.ask("/cells").body)

    # WHEN
    def ask(client, number):
        return [
            client.ask(f"/cells/{(number * 37 + turn * 101) % 1000}", method="POST")
            for turn in range(150)
        ]

    answers = at_once(program, 8, ask)

    # THEN
    assert {200} == {answer.status for answer in answers}
    assert before + len(answers) == int(program.ask("/cells").body)
    fronts = {answer.pid for answer in answers if program.is_front(answer.pid)}
    assert fronts


def test_a_client_sees_what_it_has_written_whatever_connection_it_takes(program):
    def ask(client, number):
        seen = []
        for _ in range(40):
            answer = int(client.ask("/counter", method="POST").body)
            other = program.connect()
            seen.append((answer, int(other.text("/counter"))))
            other.close()
        return seen

    for written, read in at_once(program, 4, ask):
        assert written <= read
