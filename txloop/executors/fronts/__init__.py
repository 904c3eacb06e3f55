"""Fronts: processes that take requests in themselves, and run what is short."""
