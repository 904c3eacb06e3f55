"""Which transaction runs when and where, and what becomes of its answer."""
