"""The command line: parse, call, print. Only this package prints."""

from dact.cli.app import main

__all__ = ["main"]
