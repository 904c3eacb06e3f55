"""Trials: benchmarks without load from outside, each of a few ways to do a thing."""
