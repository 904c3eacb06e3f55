"""The ways to serve a case's application: stock Tornado, prefork, txloop.

Each is a program: `python -m bench.servers.stock primes:plain --port 0`.
"""
