"""Versioned cells, snapshots and one attempt; it knows no loop and no executor."""
