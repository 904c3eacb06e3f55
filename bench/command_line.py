"""What the command lines share: a parser with one-line errors, and checked values."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import NoReturn


class OneLineParser(argparse.ArgumentParser):
    """An argument parser that reports a bad option in one line, without usage."""

    def error(self, message: str) -> NoReturn:
        """Say what is wrong and leave with exit code 2."""
        self.exit(2, f"{self.prog}: {message}\n")


def positive(text: str) -> int:
    """Return a whole number of at least 1."""
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"must be at least 1, not {number}")
    return number


def percent(text: str) -> int:
    """Return a whole number from 1 to 100."""
    number = positive(text)
    if number > 100:
        raise argparse.ArgumentTypeError(f"must be at most 100, not {number}")
    return number


def output_file(text: str) -> Path:
    """Return a path that can be written, so that no run ends with nowhere to put it."""
    path = Path(text)
    target = path if path.exists() else path.parent
    if path.is_dir() or not path.parent.is_dir() or not os.access(target, os.W_OK):
        raise argparse.ArgumentTypeError(f"cannot write {text}")
    return path
