"""What a finding says of what objects hold, and what code does outside of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.unit.scan_programs.loading import scan, scan_handler

if TYPE_CHECKING:
    from tests.unit.scan_programs.loading import Load


class TestWhatObjectsHold:
    """A remedy that would break the program is not given."""

    @pytest.mark.parametrize(
        ("made", "remedy"),
        [
            (
                "{'a': Row()}",
                ", and the class app.Row, whose objects it holds, a txloop",
            ),
            ("[Row()]", ", and the class app.Row, whose objects it holds, a txloop"),
            ("{'a': []}", "(txloop.share makes containers of what it holds, too), or"),
            ("{'a': 1}", "make this dict a txloop.TDict, or mark"),
            ("{'a': Queue()}", "no container can hold a queue.Queue"),
            ("{'a': Tied()}", "no container can hold an app.Tied"),
            ("Tied()", "no container can hold an app.Tied"),
            ("[Socket.__new__(Socket)]", "make this list a txloop container or an"),
            ("Row()", "make the class app.Row a txloop.TObject"),
            ("Counter()", "make this Counter a txloop.TCounterDict, or mark"),
        ],
    )
    def test_what_is_there(self, made: str, remedy: str, load: Load) -> None:
        module = load(f"""
        from collections import Counter
        from queue import Queue
        from tornado.websocket import WebSocketHandler
        class Row: pass
        class Tied(Queue): pass
        class Socket(WebSocketHandler): pass
        it = {made}
        def get():
            global it
            it = None
        """)

        (finding,) = scan(module)

        assert remedy in finding.remedy

    @pytest.mark.parametrize(
        ("put", "remedy"),
        [
            ("it['a'] = Row()", ", and the class app.Row, whose objects it holds, a"),
            ("it.setdefault('a', Row())", ", and the class app.Row, whose objects it"),
            ("row = Row(); keep(row)", ", and the class app.Row, whose objects it"),
            ("it['a'] = {'b': 1}", "(txloop.share makes containers of what it holds"),
        ],
    )
    def test_what_is_put_there(self, put: str, remedy: str, load: Load) -> None:
        module = load(f"""
        class Row: pass
        it = {{}}
        def keep(row):
            it['a'] = row
        def get():
            {put}
        """)

        (finding,) = scan(module)

        assert remedy in finding.advice

    def test_attributes_by_name(self, load: Load) -> None:
        module = load("""
        class Row: pass
        it = Row()
        def get():
            it.__dict__["a"] = 1
        """)

        (finding,) = scan(module)

        assert finding.advice.startswith(
            "make the class of app.it a txloop.TObject, and set attributes there ("
        )

    def test_nothing_is_known_of_it(self, load: Load) -> None:
        module = load("it = {}\ndef get(row):\n    it['a'] = row")

        (finding,) = scan(module)

        assert finding.advice.endswith("must be immutable, or a container, too)")

    def test_what_is_not_the_programs(self, load: Load) -> None:
        module = load("import sys\ndef get():\n    sys.stdout = None")

        (finding,) = scan(module)

        assert "sys.stdout is not the program's own" in finding.remedy


class TestActs:
    """What changes the world outside is told where it is asked for."""

    @pytest.mark.parametrize(
        ("call", "act"),
        [
            ("open('a.txt', 'w')", "writes a.txt"),
            ("open(name, mode='ab')", "writes name"),
            ("os.remove('a.txt')", "removes a.txt"),
            ("os.write(3, b'')", "writes to something"),
            ("shutil.copyfile('a.txt', 'b.txt')", "copies a.txt"),
            ("subprocess.run(['ls'])", "starts something"),
            ("socket.create_connection(name)", "connects to name"),
            ("socket.create_connection(('a', 1))", "connects to something"),
            ("sqlite3.connect('a.db')", "opens the database a.db"),
            ("open('a.txt')", ""),
            ("open(name, name)", ""),
            ("open('/dev/null', 'w')", ""),
            ("sqlite3.connect(':memory:')", ""),
            ("os.listdir('.')", ""),
        ],
    )
    def test_call(self, call: str, act: str, load: Load) -> None:
        module = load(f"""
        import os, shutil, socket, subprocess
        try:
            import sqlite3
        except ImportError:
            pass
        class Handler:
            def get(self, name):
                self.note(name)
            def note(self, name):
                {call}
        """)

        found = scan_handler(module.Handler, "get", outside=True)

        assert [act] * bool(act) == [one.name for one in found]
        assert () == scan_handler(module.Handler, "get")

    @pytest.mark.parametrize(
        ("call", "name"),
        [
            ("atexit.register(print)", "atexit.register"),
            ("gc.disable()", "gc.disable"),
            ("mimetypes.add_type('a/b', '.b')", "mimetypes.add_type"),
            ("os.nice(1)", "os.nice"),
            ("locale.set_default_locale('de')", "tornado.locale.set_default_locale"),
            ("set_signal(1, set_signal)", "signal.signal"),
            ("signal.setitimer(signal.ITIMER_REAL, 1)", "signal.setitimer"),
            ("gc.collect()", ""),
            ("mimetypes.guess_type('a.b')", ""),
            ("signal.getsignal(1)", ""),
        ],
    )
    def test_call_that_changes_the_process(
        self, call: str, name: str, load: Load
    ) -> None:
        """It is found whoever has marked the handler."""
        module = load(f"""
        import atexit, gc, mimetypes, os, signal
        from signal import signal as set_signal
        from tornado import locale
        class Handler:
            def get(self):
                self.change()
            def change(self):
                {call}
        """)

        found = scan_handler(module.Handler, "get")

        assert [name] * bool(name) == [one.name for one in found]
        for one in found:
            assert f"change() changes the whole process by {name}; leave" in str(one)

    @pytest.mark.parametrize("call", ["add_handlers('.*', [])", "listen(80)"])
    def test_change_of_what_the_application_does_with_requests(
        self, call: str, load: Load
    ) -> None:
        module = load(f"""
        class Handler:
            def get(self):
                self.application.{call}
        """)

        [found] = scan_handler(module.Handler, "get")

        assert f"application.{call.partition('(')[0]}" == found.name

    def test_at_commit_it_is_free(self, load: Load) -> None:
        load("def on_commit(function, *args): ...", "txloop.fake")
        module = load("""
        import os
        from txloop.fake import on_commit
        class Handler:
            def get(self):
                on_commit(os.remove, "a.txt")
        """)

        assert () == scan_handler(module.Handler, "get", outside=True)
