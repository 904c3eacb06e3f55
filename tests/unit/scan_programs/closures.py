"""Programs that write what a closure holds. See `test_scan`."""

from __future__ import annotations

PROGRAMS = {
    "assignment": """
    def make():
        count = 0
        def get():
            nonlocal count
            count += 1  # WRITES_CLOSURE count
            return count
        return get
    get = make()
    """,
    "mutation": """
    def make():
        rows = []
        def get():
            rows.append(1)  # WRITES_CLOSURE rows
        return get
    get = make()
    """,
    "read of what another closure changes": """
    def make():
        rows, count = [], 0
        def note():
            nonlocal count
            count += 1
            rows.append(1)
        def get():
            return (
                rows,  # READS_WRITTEN rows
                count,  # READS_WRITTEN count
            )
        return get, note
    get, note = make()
    """,
}
