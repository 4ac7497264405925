"""`python -m dact`, and the command `dact`."""

import sys

from dact.interrupts import ignore_signals, leave_on_signals


def main() -> int:
    """Handle signals first, then import the command line, which takes time."""
    leave_on_signals()
    from dact.cli import main as run

    try:
        return run()
    finally:
        ignore_signals()


if __name__ == "__main__":
    sys.exit(main())
