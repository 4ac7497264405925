"""Pictures: what is drawn, not how it looks."""

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

import dact
from dact.instances import InputError, Instance, Routes
from dact.plotting import cost_text, plot, plot_trace, save_plot
from dact.plotting.gaps import Curve, plot_gaps
from dact.plotting.labels import SIDES, TRIED, Room
from dact.plotting.styles import COLOURS, by_angle, style_of
from dact.search import Trace, TracePoint

POINTS = np.array([[0.0, 0.0], [10.0, 0.0], [0.0, 10.0], [-10.0, 0.0], [0.0, -10.0]])


@dataclass(frozen=True)
class Drawn:
    """The least that can be drawn."""

    instance: Instance
    routes: Routes
    cost: float = 40.0
    gap: float | None = None
    steps: int = 9
    trace: Trace = (TracePoint(0, 0.0, 50.0), TracePoint(4, 0.1, 40.0))


def _tsp(**changes: object) -> Instance:
    return Instance(**({"name": "five", "problem": "tsp", "rule": "euc_2d", "coordinates": POINTS} | changes))  # type: ignore[arg-type]


def _cvrp() -> Instance:
    return _tsp(name="star", problem="cvrp", demand=np.array([0, 1, 1, 1, 1]), capacity=2)


@pytest.fixture
def ax() -> Axes:
    """Axes of a figure that no pyplot knows."""
    return Figure().add_subplot()


def _titles(ax: Axes) -> str:
    return ax.get_title("left") + " " + ax.get_title("right")


def test_tour_is_closed_through_all_nodes(ax: Axes):
    """A TSP picture is one closed line through every node in tour order."""
    assert plot(Drawn(_tsp(), ((0, 1, 2, 3, 4),)), ax) is ax
    (line,) = ax.lines
    assert np.array_equal(line.get_xydata(), POINTS[[0, 1, 2, 3, 4, 0]])


def test_routes_have_colours_of_their_own(ax: Axes):
    """Every route gets another colour, and the depot is drawn as a square at its place."""
    plot(Drawn(_cvrp(), ((1, 2), (3, 4))), ax)
    bold = [line for line in ax.lines if line.get_alpha() is None]
    assert len({line.get_color() for line in bold}) == len(bold) == 2
    depot = ax.collections[-1]
    assert np.array_equal(depot.get_offsets(), POINTS[:1])


def test_title_tells_name_cost_and_gap(ax: Axes):
    """The title has the name, the cost as the rule rounds it, and the gap where there is one."""
    plot(Drawn(_cvrp(), ((1, 2), (3, 4)), cost=1234.0, gap=2.5), ax)
    for word in ("star", "1,234", "2.50 %", "2 routes"):
        assert word in _titles(ax)
    other = Figure().add_subplot()
    plot(Drawn(_tsp(), ((0, 1, 2, 3, 4),)), other)
    assert "gap" not in _titles(other)


def test_routes_are_ordered_by_direction():
    """Routes that lie side by side follow each other, so that their colours differ."""
    ordered = by_angle(POINTS, [(1,), (3,), (2,), (4,)])
    assert ordered == [[4], [1], [2], [3]]


def test_geographical_maps_have_north_up(ax: Axes):
    """Latitude, the first number of a GEO file, is drawn upwards, and degrees of longitude are as short as there."""
    far_north = np.array([[59.30, 170.0], [60.30, 170.0], [60.30, -170.0]])
    north = Instance(name="north", problem="tsp", rule="geo", coordinates=far_north)
    plot(Drawn(north, ((0, 1, 2),)), ax)
    first, second, third = ax.lines[0].get_xydata()[:3]
    assert (second - first).tolist() == pytest.approx([0, 1])
    assert (third - second).tolist() == pytest.approx([20 * np.cos(np.radians(60)), 0])


def test_names_are_written(ax: Axes):
    """Nodes that have names are labelled with them, whatever Matplotlib would make of their characters."""
    named = Instance(name="n", problem="tsp", rule="euclidean", coordinates=POINTS[:3], names=("$a$", "b_{", ""))
    plot(Drawn(named, ((0, 1, 2),)), ax)
    assert [text.get_text() for text in ax.texts] == ["$a$", "b_{", "3"]


def test_numbers_and_loads_are_written(ax: Axes):
    """Nodes without names have their numbers, and the legend has a line for each route with its load and length."""
    plot(Drawn(_cvrp(), ((1, 2), (3, 4))), ax)
    assert sorted(text.get_text() for text in ax.texts) == ["1", "2", "3", "4", "depot"]
    legend = ax.get_legend()
    assert legend.get_title().get_text().split() == ["route", "load", "length"]
    assert [text.get_text().split() for text in legend.get_texts()] == [["1", "2/2", "34"], ["2", "2/2", "34"]]


def test_labels_do_not_overlap(ax: Axes):
    """Where nodes crowd, labels that would cover others are left out, and so are those of large instances."""
    crowd = np.random.default_rng(0).normal(size=(200, 2))
    plot(Drawn(_tsp(coordinates=crowd), (tuple(range(200)),)), ax)
    boxes = [text.get_window_extent(FigureCanvasAgg(ax.figure).get_renderer()) for text in ax.texts]
    assert 20 < len(boxes) < 200
    middles = [((box.x0 + box.x1) / 2, (box.y0 + box.y1) / 2) for box in boxes]
    for place, box in enumerate(boxes):
        assert not any(box.contains(*middle) for other, middle in enumerate(middles) if other != place)
    large = Figure().add_subplot()
    plot(Drawn(_tsp(coordinates=np.random.default_rng(0).random((300, 2))), (tuple(range(300)),)), large)
    assert not large.texts


@pytest.mark.parametrize("routes", [10, 400])
def test_numbers_of_routes_are_tried_at_few_stops(routes: int, ax: Axes, monkeypatch: pytest.MonkeyPatch):
    """Where there is no room for them, a picture of many stops is not the work of hours."""
    calls = []
    monkeypatch.setattr(Room, "take", lambda self, box: calls.append(box))
    points = np.random.default_rng(1).random((801, 2))
    many = _tsp(problem="cvrp", coordinates=points, demand=np.array([0] + [1] * 800), capacity=400)
    plot(Drawn(many, tuple(tuple(range(first, 801, routes)) for first in range(1, routes + 1))), ax)
    assert len(calls) == (10 * TRIED * len(SIDES) if routes == 10 else 0)


def test_a_long_legend_is_left_out(tmp_path: Path):
    """A legend that is higher than the picture would be cut off."""
    points = np.random.default_rng(1).random((151, 2))
    many = _tsp(problem="cvrp", coordinates=points, demand=np.array([0] + [1] * 150), capacity=1)
    low = Figure(figsize=(4, 2)).add_subplot()
    plot(Drawn(many, tuple((node,) for node in range(1, 151))), low)
    assert low.get_legend() is None


def test_no_height_for_a_legend_that_is_not_drawn(tmp_path: Path):
    """A square map of a few routes, and of so many that their legend is left out, is drawn in a square frame."""
    points = np.array([(x, y) for x in range(13) for y in range(13)], dtype=float)
    for customers_each in (56, 1):
        every = range(1, 169)
        routes = tuple(tuple(every[first : first + customers_each]) for first in range(0, 168, customers_each))
        grid = _tsp(problem="cvrp", coordinates=points, demand=np.array([0] + [1] * 168), capacity=customers_each)
        save_plot(Drawn(grid, routes), tmp_path / "grid.png")
        high, wide = plt.imread(tmp_path / "grid.png").shape[:2]
        legend = 0.2 if customers_each > 1 else 0.0
        assert high / wide == pytest.approx(1.04 - legend, abs=0.03)


def test_a_plane_that_is_no_map_says_so(ax: Axes):
    """Under the picture of an instance without coordinates it says that places are laid out by their distances."""
    plot(Drawn(Instance.from_matrix(1 - np.eye(5)), ((0, 1, 2, 3, 4),)), ax)
    assert ax.get_xlabel().startswith("not a map")
    with_points = Figure().add_subplot()
    plot(Drawn(Instance.from_matrix(1 - np.eye(5), coordinates=POINTS), ((0, 1, 2, 3, 4),)), with_points)
    assert not with_points.get_xlabel()


def test_routes_at_the_depot_are_seen(ax: Axes):
    """A route whose customers are all where the depot is gets a ring around it, and its nodes lie above the depot."""
    points = np.array([[0.0, 0.0], [0.0, 0.0], [10.0, 0.0], [0.0, 10.0]])
    hidden = _tsp(problem="cvrp", coordinates=points, demand=np.array([0, 1, 1, 1]), capacity=1)
    plot(Drawn(hidden, ((1,), (2,), (3,))), ax)
    *nodes, ring, depot = ax.collections
    assert len(nodes) == 3
    assert np.array_equal(ring.get_offsets(), points[:1])
    assert ring.get_sizes()[0] > depot.get_sizes()[0]
    assert ring.get_edgecolor()[0].tolist() == nodes[0].get_facecolor()[0].tolist()
    assert min(each.get_zorder() for each in nodes) > depot.get_zorder()


def test_forty_routes_look_different():
    """No two of 96 routes have the same colour, dash and marker."""
    assert len({style_of(number) for number in range(96)}) == 96


def test_many_routes_are_numbered(ax: Axes):
    """With more routes than colours each bears its number, as the legend has it."""
    angle = np.linspace(0, 6, 21)[1:]
    points = np.concatenate(([[0.0, 0.0]], np.stack((np.cos(angle), np.sin(angle)), axis=1)))
    many = _tsp(problem="cvrp", coordinates=points, demand=np.array([0] + [1] * 20), capacity=1)
    plot(Drawn(many, tuple((node,) for node in range(1, 21))), ax)
    numbers = [text.get_text() for text in ax.texts if text.get_bbox_patch() is not None]
    assert numbers == [str(number) for number in range(1, 21)]


def test_many_routes_use_dashes(ax: Axes):
    """More routes than colours are told apart by their dashes."""
    angle = np.linspace(0, 6, 21)[1:]
    points = np.concatenate(([[0.0, 0.0]], np.stack((np.cos(angle), np.sin(angle)), axis=1)))
    many = Instance(
        name="many", problem="cvrp", rule="euclidean", coordinates=points, demand=np.array([0] + [1] * 20), capacity=1
    )
    plot(Drawn(many, tuple((node,) for node in range(1, 21))), ax)
    bold = [line for line in ax.lines if line.get_alpha() is None]
    styles = {(line.get_color(), str(line._dash_pattern)) for line in bold}  # type: ignore[attr-defined]
    assert len(styles) == 20 > len(COLOURS)


def test_trace_goes_down_to_the_last_step(ax: Axes):
    """The cost is drawn against the steps, as stairs, up to the end of the search."""
    plot_trace(Drawn(_tsp(best_known=35.0), ((0, 1, 2, 3, 4),)), ax)
    assert ax.lines[0].get_xydata().tolist() == [[0, 50], [4, 40], [9, 40]]
    assert ax.lines[0].get_drawstyle() == "steps-post"
    assert ax.lines[1].get_ydata()[0] == 35.0


@pytest.mark.parametrize("suffix", [".png", ".svg", ".pdf"])
def test_save(tmp_path: Path, suffix: str):
    """A picture is written in the format of its extension."""
    path = tmp_path / f"picture{suffix}"
    save_plot(Drawn(_tsp(), ((0, 1, 2, 3, 4),)), path)
    start = {".png": b"\x89PNG", ".svg": b"<?xml", ".pdf": b"%PDF"}[suffix]
    assert path.read_bytes().startswith(start)


def test_save_refuses(tmp_path: Path):
    """An unknown extension and a folder that is not there are named."""
    drawn = Drawn(_tsp(), ((0, 1, 2, 3, 4),))
    with pytest.raises(InputError, match=r"a\.gif.*\.png"):
        save_plot(drawn, tmp_path / "a.gif")
    with pytest.raises(InputError, match="cannot be written"):
        save_plot(drawn, tmp_path / "gone" / "a.png")


def test_new_axes_without_ax():
    """Without axes a new figure is made."""
    mpl.use("Agg")
    assert isinstance(dact.plot(Drawn(_tsp(), ((0, 1, 2, 3, 4),))), Axes)


def test_cost_text():
    """Whole where the rule rounds, else real."""
    assert cost_text(_tsp(), 12345.0) == "12,345"
    assert cost_text(_tsp(rule="euclidean"), 7.7654321) == "7.7654"
    assert cost_text(_tsp(rule="euclidean"), 27591.123) == "27,591.12"
    half = np.array([[0, 0.5], [0.5, 0]])
    assert cost_text(_tsp(rule="explicit", coordinates=None, matrix=half), 1.0) == "1"
    assert cost_text(_tsp(rule="explicit", coordinates=None, matrix=half), 1.5) == "1.5"


def test_matplotlib_is_loaded_late():
    """Importing the plotting package does not import matplotlib."""
    code = "import sys, dact.plotting; print('matplotlib' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def test_gaps_against_time():
    """A line for each search, a colour for each name and a dash for each limit; the legend tells the last value."""
    curves = [
        Curve(name="usual", limit="1 s", seconds=[0.5, 1.0], values=[3.0, 0.5]),
        Curve(name="$odd", limit="1 s", seconds=[0.5, 1.0], values=[4.0, 2.0]),
        Curve(name="usual", limit="2 s", seconds=[1.0, 2.0], values=[1.0, 2.8e-15]),
    ]
    ax = plot_gaps(curves, "title", "gap")
    assert [line.get_ydata().tolist() for line in ax.lines] == [[3.0, 0.5], [4.0, 2.0], [1.0, 0.25]]
    legend = [text.get_text() for text in ax.get_legend().get_texts()]
    assert legend == ["usual, 1 s  0.5", "$odd, 1 s  2", "usual, 2 s  0"]
    colours, dashes = ([getter(line) for line in ax.lines] for getter in (Line2D.get_color, Line2D.get_linestyle))
    assert colours[0] == colours[2] != colours[1]
    assert dashes[0] == dashes[1] != dashes[2]
    assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")
    assert "none" in ax.get_ylabel()


def test_costs_against_time():
    """A small cost is not nothing."""
    ax = plot_gaps([Curve(name="usual", seconds=[1.0], values=[2e-5])], "title", "cost", nothing=0.0)
    assert ax.get_legend().get_texts()[0].get_text() == "usual  2e-05"
    assert ax.get_ylabel() == "cost"
