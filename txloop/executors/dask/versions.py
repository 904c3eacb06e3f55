"""What has to be the same where a program is and where its calls run."""

from __future__ import annotations

import platform
import sys
from importlib import metadata

from txloop.stm.origin import claimed

__all__ = ["differences", "versions_here", "versions_of"]

_ALWAYS = ("txloop", "tornado", "cloudpickle")


def versions_here() -> dict[str, str]:
    """Return the versions of what the program is made of; on the loop thread."""
    # A package that is called otherwise than its distribution is not found: the look-up
    # of all distributions takes half a second.
    return versions_of([*_ALWAYS, *sorted(claimed())])


def versions_of(names: list[str]) -> dict[str, str]:
    """Return the versions of Python and of distributions, as installed here."""
    python = f"{platform.python_implementation()} {sys.version_info[0]}"
    found = {"Python": f"{python}.{sys.version_info[1]}"}
    for name in names:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            found[name] = "none"
    return found


def differences(program: dict[str, str]) -> str:
    """Return what is of another version here, as text; "" if nothing is.

    Args:
        program: What `versions_here` has returned where the program is.
    """
    here = versions_of([name for name in program if name != "Python"])
    return "; ".join(
        f"{name} {here[name]} there, {wanted} here"
        for name, wanted in program.items()
        if here[name] != wanted
    )
