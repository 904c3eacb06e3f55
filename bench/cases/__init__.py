"""The cases: each module here is one, and its `CASE` says what it measures."""
