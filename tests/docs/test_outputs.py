"""What may differ between an output and what a page shows of it."""

import pytest
from outputs import compare, same_text

TABLE = "instance  cost  gap  routes  seconds\nshops     42.5    -       {routes}      {seconds}\n"
SHOWN = TABLE.format(routes=3, seconds="0.6").splitlines()


def test_seconds_may_differ():
    """The column `seconds` of a table, and the widths of columns."""
    compare("x", SHOWN, TABLE.format(routes=3, seconds="12.5").replace("shops", "shops   "))


@pytest.mark.parametrize(
    "printed", [TABLE.format(routes=4, seconds="0.6"), TABLE.format(routes=3, seconds="0.6") + "b"]
)
def test_other_numbers_are_found(printed: str):
    """Another number of routes, and a line too much."""
    with pytest.raises(AssertionError, match="shown are"):
        compare("x", SHOWN, printed)


def test_another_cost_is_found():
    """A cost in a table, in a line of text and in a script's output."""
    for shown, printed in (("a: cost 37.742", "a: cost 42.608"), ("1 2.5", "1 2.6")):
        with pytest.raises(AssertionError, match="shown are"):
            compare("x", [shown], printed)


def test_order_of_routes_may_differ():
    """Their numbers and directions too, but not their customers and lengths."""
    shown = ["cost 5", "Route 1 (load 2, length 3): Ann, Ben", "Route 2 (load 1, length 2): Cem", "end"]
    compare("x", shown, "cost 5\nRoute 1 (load 1, length 2): Cem\nRoute 2 (load 2, length 3): Ben, Ann\nend\n")
    for other in ("length 3): Ann, Eve", "length 4): Ann, Ben"):
        with pytest.raises(AssertionError, match="shown are"):
            compare("x", shown, "\n".join(shown).replace("length 3): Ann, Ben", other))


def test_dots_stand_for_anything():
    """In a line or for lines; at the end of a file for its rest."""
    compare("x", ["a ... c", "..."], "a 1 c\nd\ne\n")
    same_text("x", ["a", "..."], "a\nb\n")
    for shown in (["a"], ["b", "..."]):
        with pytest.raises(AssertionError, match="shown are"):
            same_text("x", shown, "a\nb\n")
