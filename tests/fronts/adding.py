"""Clients that add names to a dict, each once, while something happens to fronts."""

from __future__ import annotations

import threading

__all__ = ["ADDS", "Adders"]

ADDS = """
done, total = TDict(), TCounter()  # all at the same TVar would leave fronts: no gain

@transactional
class Add(Tells):
    def post(self, name):
        assert name == "warm" or name not in done
        done[name] = 1
        total.add(name != "warm")

class Done(RequestHandler):
    def get(self):
        self.write({"names": list(done), "total": total.value})

@transactional
class Ends(Tells):
    def get(self):
        if self.get_argument("end", ""):
            getattr(os, "_ex" + "it")(7)  # the scan does not see it
        self.write("harmless")

handlers += [(r"/add/(\\w+)", Add), ("/done", Done), ("/ends", Ends)]
"""


class Adders:
    """Threads that add names of their own, on connections that they replace."""

    def __init__(self, program, count=4):
        self.answered: list[str] = []
        self.pids = set[int]()
        self._program = program
        self._stop = threading.Event()
        self._threads = [
            threading.Thread(target=self._add, args=(number,))
            for number in range(count)
        ]

    def __enter__(self):
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *exception):
        self._stop.set()
        for thread in self._threads:
            thread.join()

    def fronts(self):
        """Return the fronts that have answered."""
        return {pid for pid in self.pids.copy() if self._program.is_front(pid)}

    def workers(self):
        """Return the workers that have answered, and those fronts that are gone."""
        return self.pids - self.fronts() - {self._program.owner}

    def _add(self, number):
        client, count = self._program.connect(), 0
        while not self._stop.is_set():
            name = f"n{number}x{count}"
            count += 1
            try:
                answer = client.ask(f"/add/{name}", method="POST")
            except (OSError, EOFError):
                client.close()
                client = self._program.connect()
                continue
            assert answer.status == 200
            self.answered.append(name)
            self.pids.add(answer.pid)
