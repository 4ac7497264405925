"""The kinds of moves of a descent, as codes that all implementations share.

A code describes a move for a node u and a neighbour v. Its bits: 0-1 the kind (0 exchange, 1 2-opt, 2 2-opt*), 2-3
the number of nodes that move with u, 4 whether they precede u, 5 whether u is placed before v, 6-7 the number of
nodes moved back in exchange, 8 whether these are reversed.
"""

from collections.abc import Iterable

EXCHANGE, TWO_OPT, TWO_OPT_STAR = range(3)


def code(kind: int, *, length: int = 0, back: int = 0, before: int = 0, other: int = 0, turned: int = 0) -> int:
    """The code of a kind of move."""
    return kind | length << 2 | back << 4 | before << 5 | other << 6 | turned << 8


def _exchanges(length: int, other: int) -> tuple[int, ...]:
    """Stretches of `length` nodes against `other` ones, in all directions."""
    return tuple(
        code(EXCHANGE, length=length, back=back, before=before, other=other, turned=turned)
        for back in range(2 if length > 1 else 1)
        for before in range(2)
        for turned in range(2 if other > 1 else 1)
    )


NEIGHBOURHOODS: dict[str, tuple[int, ...]] = {
    "two_opt": (code(TWO_OPT), code(TWO_OPT, before=1)),
    "or_opt": _exchanges(1, 0) + _exchanges(2, 0) + _exchanges(3, 0),
    "swap": _exchanges(1, 1),
    "two_opt_star": (code(TWO_OPT_STAR), code(TWO_OPT_STAR, before=1)),
    "swap_2_1": _exchanges(2, 1),
    "swap_2_2": _exchanges(2, 2),
}
SWAP_STAR = "swap_star"
"""Two customers of two routes change over, each to the cheapest place there: tried when a descent has ended, and not
by codes, since it is not a move of two stretches."""
USUAL = ("two_opt", "or_opt", "swap", "two_opt_star")
"""The neighbourhoods of a descent, unless others are asked for."""


def codes(neighbourhoods: tuple[str, ...] = USUAL, *, routes: bool) -> tuple[int, ...]:
    """Their codes, ordered by `cut`; where there are no routes, 2-opt* is left out."""
    unknown = [name for name in neighbourhoods if name not in NEIGHBOURHOODS]
    if unknown:
        raise ValueError(f"neighbourhood '{unknown[0]}' is not one of {', '.join(NEIGHBOURHOODS)}")
    chosen = [name for name in neighbourhoods if routes or name != "two_opt_star"]
    return tuple(sorted((value for name in chosen for value in NEIGHBOURHOODS[name]), key=cut))


def cut(value: int) -> int:
    """Which of u's edges a kind of move cuts: 0 the one behind it, 1 the one before it, 2 both."""
    kind, length, back, before = value & 3, value >> 2 & 3, value >> 4 & 1, value >> 5 & 1
    if kind == EXCHANGE:
        return 2 if length == 1 else 1 - back
    return before


def cuts(values: Iterable[int]) -> tuple[int, int]:
    """Of codes in this order: how many cut the edge behind u alone, and how many one edge alone."""
    which = [cut(value) for value in values]
    return which.count(0), which.count(0) + which.count(1)
