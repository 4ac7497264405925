"""Instances with next to nothing in them are answered, not refused."""

from pathlib import Path

import pytest
from cli_files import tsp_text, vrp_text


@pytest.mark.parametrize(
    ("points", "cost"),
    [
        ([(5, 5)], 0),
        ([(0, 0), (3, 4)], 10),
        ([(0, 0), (3, 4), (3, 0)], 12),
        ([(7, 7)] * 5, 0),
        ([(0, 0), (0, 0), (3, 4), (3, 4)], 10),
    ],
)
def test_tiny_tsp(dact, tmp_path: Path, points: list[tuple[float, float]], cost: int):
    """One, two, three nodes, and nodes at one point, have their obvious tour, a picture and no gap."""
    path, picture = tmp_path / "tiny.tsp", tmp_path / "tiny.png"
    path.write_text(tsp_text(points))
    record = dact("solve", path, "--steps", 5, "--augment", 8, "--json", "--plot", picture).record
    assert (record["cost"], record["gap"], record["feasible"]) == (cost, None, True)
    assert sorted(record["tour"]) == list(range(1, len(points) + 1))
    assert picture.exists()


@pytest.mark.parametrize(
    ("points", "demand", "cost"),
    [
        ([(0, 0), (3, 4)], [0, 1], 10),
        ([(0, 0), (3, 4)], [0, 0], 10),
        ([(0, 0), (3, 4), (6, 8)], [0, 2, 2], 30),
        ([(7, 7)] * 4, [0, 1, 1, 2], 0),
    ],
)
def test_tiny_cvrp(dact, tmp_path: Path, points: list[tuple[float, float]], demand: list[int], cost: int):
    """One customer, customers without demand, and all nodes at one point are served."""
    path = tmp_path / "tiny.vrp"
    path.write_text(vrp_text(points, demand, 2))
    record = dact("solve", path, "--steps", 5, "--json", "--plot", tmp_path / "tiny.png").record
    assert (record["cost"], record["gap"], record["feasible"]) == (cost, None, True)
    assert sorted(customer for route in record["routes"] for customer in route) == list(range(1, len(points)))


def test_matrix_without_coordinates(dact, tmp_path: Path):
    """An EXPLICIT instance is solved by its matrix and drawn in a plane of our own."""
    path = tmp_path / "matrix.tsp"
    path.write_text(
        "TYPE: TSP\nDIMENSION: 4\nEDGE_WEIGHT_TYPE: EXPLICIT\nEDGE_WEIGHT_FORMAT: UPPER_ROW\n"
        "EDGE_WEIGHT_SECTION\n1 9 1\n1 9\n1\nEOF\n"
    )
    record = dact("solve", path, "--steps", 5, "--json", "--plot", tmp_path / "matrix.svg").record
    assert record["cost"] == 4
    assert isinstance(record["cost"], int)


def test_options_are_not_named_by_their_metavar():
    """Some versions of Typer take a metavar for the option's name where the two are the same word."""
    from typer.main import get_command

    from dact.cli.app import app

    def options(command, path):
        for name, inner in getattr(command, "commands", {}).items():
            yield from options(inner, f"{path} {name}")
        yield from ((path, each) for each in command.params if each.param_type_name == "option")

    for path, option in options(get_command(app), "dact"):
        assert (option.metavar or "").lower() != option.name, (path, option.name)
        assert all(name == name.lower() for name in option.opts), (path, option.opts)
