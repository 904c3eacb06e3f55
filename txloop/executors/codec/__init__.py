"""Calls, answers and values as bytes, which another process or thread can read."""
