"""The picture of solvers side by side."""

from dact.plotting.race import Line, plot_race
from dact.plotting.styles import COLOURS


def test_axes_are_logarithmic_and_no_gap_lies_on_the_floor():
    """A gap of nothing has no logarithm: it is drawn at half of the smallest gap, and the axis says so."""
    one = Line(name="one", number=2, seconds=[1, 10], gaps=[2.0, 0.5], errors=[0.1, 0.6])
    two = Line(name="two", number=2, seconds=[1, 10], gaps=[1.0, 1e-15], errors=[0.0, 0.0], dashed=True)
    ax = plot_race([one, two], "title", "seconds")
    assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")
    heights = [line.get_ydata().tolist() for line in ax.lines]
    assert heights == [[2.0, 0.5], [1.0, 0.25]]
    assert "hollow" in ax.get_ylabel()
    assert {line.get_color() for line in ax.lines} == {COLOURS[2]}
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["one", "two"]


def test_numbers_are_plain():
    """A thousand seconds are 1,000, a hundredth of a percent is 0.01; between powers only on a short axis."""
    far = Line(name="far", number=2, seconds=[1, 5000], gaps=[0.02, 90], errors=[0, 0])
    ax = plot_race([far], "title", "seconds")
    assert ax.xaxis.get_major_formatter()(1000.0, 0) == "1,000"
    assert ax.yaxis.get_major_formatter()(0.01, 0) == "0.01"
    assert ax.xaxis.get_minor_formatter()(2.0, 0) == ""
    near = Line(name="near", number=2, seconds=[1, 60], gaps=[1, 3], errors=[0, 0])
    ax = plot_race([near], "title", "seconds")
    assert [ax.xaxis.get_minor_formatter()(value, 0) for value in (2.0, 3.0, 50.0)] == ["2", "", "50"]
