"""`python -m conflict_log`, the same as `conflict-log`."""

from __future__ import annotations

import sys

from conflict_log.command_line import main

if __name__ == "__main__":
    sys.exit(main())
