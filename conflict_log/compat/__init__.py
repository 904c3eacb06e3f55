"""PyPy's own text, byte for byte wherever PyPy's tool succeeds.

Written from that tool's behaviour, arithmetic included: times are floats of seconds,
added in the order of the log. Where the tool ends with an exception, the text goes on
as far as it can and a note says where the tool gave up.
"""

from __future__ import annotations

from conflict_log.compat.text import Printed, print_log

__all__ = ["Printed", "print_log"]
