"""Operators change a tour at a pair of positions. To add one: write its file, add a line to OPERATORS, test it."""

from dact.operators.base import Operator
from dact.operators.insert import insert
from dact.operators.swap import swap
from dact.operators.two_opt import two_opt

OPERATORS: dict[str, Operator] = {"two_opt": two_opt, "insert": insert, "swap": swap}

__all__ = ["OPERATORS", "Operator", "insert", "swap", "two_opt"]
