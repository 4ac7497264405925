"""`python -m dact`."""

import sys

from dact.cli import main

if __name__ == "__main__":
    sys.exit(main())
