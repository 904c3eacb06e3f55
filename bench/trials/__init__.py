"""Trials: benchmarks of a few ways to do a thing, without the load of the cases."""
