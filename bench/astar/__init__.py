"""Playing on the A* server and checking every answer that it gave.

`client` plays and records, `check` rebuilds the map from the server's event log and
compares; `generator` makes a load of both. The check is a library: it needs no server,
and shares no code with the game whose answers it checks.
"""
