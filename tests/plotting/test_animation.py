"""Moving pictures."""

import io

import numpy as np
from PIL import Image

from dact.instances import Instance
from dact.plotting.animation import Frame, Reel, gif

SQUARE = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 1.0], [1.0, 0.0]])


def frame(number: int, *route: int) -> Frame:
    """A frame with one route."""
    return Frame(routes=(route,), cost=float(number), seconds=float(number))


def test_a_gif_has_a_picture_for_each_frame(problem_name: str):
    """Solutions that differ are pictures that differ, for every problem."""
    loads = {"demand": np.array([0, 1, 1, 1]), "capacity": 3} if problem_name == "cvrp" else {}
    instance = Instance(name="square", problem=problem_name, rule="euclidean", coordinates=SQUARE, **loads)
    first = instance.facts.first
    ahead = tuple(range(first, 4))
    picture = Image.open(io.BytesIO(gif(instance, [frame(2, *ahead), frame(1, *ahead[1:], ahead[0])])))
    assert (picture.format, picture.n_frames) == ("GIF", 2)


def test_nodes_on_one_spot_can_be_drawn():
    """A map without extent is still a picture."""
    instance = Instance(name="spot", problem="tsp", rule="euclidean", coordinates=np.zeros((4, 2)))
    assert Image.open(io.BytesIO(gif(instance, [frame(0, 0, 1, 2, 3)]))).n_frames == 1


def test_a_long_reel_is_thinned():
    """However many frames come, few are kept, in order, with the first and the last."""
    reel = Reel(most=10)
    for number in range(1000):
        reel.add(frame(number, 0))
    costs = [each.cost for each in reel.frames()]
    assert len(costs) <= 10
    assert costs == sorted(costs)
    assert (costs[0], costs[-1]) == (0, 999)
