"""The commit of the running source."""

import subprocess
from functools import cache
from pathlib import Path


@cache
def commit() -> str:
    """The commit of the checkout that the package runs from, marked if changed since; empty outside of one."""
    command = ["git", "-C", str(Path(__file__).parent), "describe", "--always", "--dirty"]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True, timeout=5).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return ""
