"""Loads of cases that need more than one client of one kind.

`mixed` sends light requests beside heavy ones, `counted` so many requests instead of
so many seconds, `overload` more than the server can answer, `kills` kills its workers.
"""
