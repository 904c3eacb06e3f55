"""The tests: one folder per kind; helpers that several kinds share lie here."""
