"""Objects of numpy and pydantic: which never change, and what is wrong with the others.

Neither is imported: where there are objects of it, it is there already.
"""

from __future__ import annotations

import sys
from typing import Any

__all__ = [
    "fault_of_array",
    "is_frozen_array",
    "is_frozen_model",
    "is_of",
    "parts_of_model",
]


def is_of(module: str, value: object, name: str) -> bool:
    """Tell whether it is of a class of a module that the program may have imported."""
    kind = getattr(sys.modules.get(module), name, None)
    return isinstance(kind, type) and isinstance(value, kind)


def is_frozen_array(value: Any) -> bool:
    """Tell whether it is an array that cannot be written to, here or in a worker.

    Of those, only what lies in one piece arrives as it was.
    """
    if not is_of("numpy", value, "ndarray") or type(value).__name__ != "ndarray":
        return False
    if value.flags.writeable or value.dtype.hasobject or not _is_whole(value):
        return False
    base = value.base
    return base is None or isinstance(base, bytes) or is_frozen_array(base)


def fault_of_array(value: Any) -> str:
    """Return why an array is not taken."""
    if value.flags.writeable:
        return "is mutable"
    if value.dtype.hasobject:
        return "holds objects that may be mutable"
    if type(value).__name__ == "ndarray" and _is_whole(value):
        return "is a view of what can be written to"
    return "is not stored in one piece"


def _is_whole(array: Any) -> bool:
    return bool(array.flags.c_contiguous or array.flags.f_contiguous)


def is_frozen_model(value: object) -> bool:
    """Tell whether it is a model of pydantic whose fields cannot be assigned."""
    if not is_of("pydantic", value, "BaseModel"):
        return False
    return bool(getattr(type(value), "model_config", {}).get("frozen"))


def parts_of_model(model: object) -> dict[str, object]:
    """Return the fields of a model, and what else it has."""
    parts: dict[str, object] = {}
    for source in ("__dict__", "__pydantic_extra__", "__pydantic_private__"):
        parts |= getattr(model, source, None) or {}
    return parts
