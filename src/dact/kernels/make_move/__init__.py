"""What comes of a move: the tour after the operator, its cost, the incumbent, and the way back after too long.

Everything a step does once the move is known, for `two_opt`, `insert` and `swap`.
"""

from dact.kernels.make_move.reference import OPERATORS, Costs, Search, betters, make_move_reference

__all__ = ["OPERATORS", "Costs", "Search", "betters", "make_move_reference"]
