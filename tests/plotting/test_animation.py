"""Moving pictures."""

import io
import json
import re
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import dact
from dact.instances import InputError, Instance
from dact.plotting.animation import gif, page, save_frames
from dact.plotting.canvas import Canvas
from dact.plotting.frames import Frame, Reel

SQUARE = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 1.0], [1.0, 0.0]])


def frame(number: int, *route: int) -> Frame:
    """A frame with one route."""
    return Frame(routes=(route,), cost=float(number), seconds=float(number))


def square(problem: str, **more: object) -> Instance:
    """Four nodes."""
    loads = {"demand": np.array([0, 1, 1, 1]), "capacity": 3} if problem == "cvrp" else {}
    settings = {"name": "square", "coordinates": SQUARE} | loads | more
    return Instance(problem=problem, rule="euclidean", **settings)  # type: ignore[arg-type]


def test_a_gif_has_a_picture_for_each_frame(problem_name: str):
    """Solutions that differ are pictures that differ, for every problem."""
    instance = square(problem_name)
    ahead = tuple(range(instance.facts.first, 4))
    picture = Image.open(io.BytesIO(gif(instance, [frame(2, *ahead), frame(1, *ahead[1:], ahead[0])])))
    assert (picture.format, picture.n_frames) == ("GIF", 2)


def test_nodes_on_one_spot_can_be_drawn():
    """A map without extent is still a picture."""
    spot = square("tsp", coordinates=np.zeros((4, 2)))
    assert Image.open(io.BytesIO(gif(spot, [frame(0, 0, 1, 2, 3)]))).n_frames == 1


def test_pictures_have_the_shape_of_the_map():
    """A wide map gives a wide picture, and sides are even, as films want them."""
    wide, high = Canvas(square("tsp", coordinates=SQUARE * [3.1, 1.0])).size
    assert wide > high
    assert wide % 2 == high % 2 == 0


def test_a_page_has_all_frames():
    """The page has the routes, costs and names of every frame in it, and loads nothing."""
    instance = square("cvrp", names=("Base", "</script>", "Ben", "Cem"))
    text = page(instance, [frame(9, 1, 2, 3), frame(8, 3, 2, 1)]).decode()
    assert text.count("</script>") == 1
    film = json.loads(re.search(r"const film = (.*);\n", text)[1])  # type: ignore[index]
    assert [each["routes"] for each in film["frames"]] == [[[1, 2, 3]], [[3, 2, 1]]]
    assert [each["cost"] for each in film["frames"]] == ["9", "8"]
    assert film["labels"] == ["Base", "</script>", "Ben", "Cem"]
    assert not re.search(r"(src|href)=|https?:|@import|url\(", text)


def test_films_need_ffmpeg(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Without ffmpeg .mp4 is refused in one sentence; with it, it gets the pictures and its file is taken."""
    frames = [frame(9, 1, 2, 3), frame(8, 3, 2, 1)]
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(InputError, match=r"\.mp4 needs ffmpeg, which is not installed here"):
        save_frames(square("cvrp"), frames, tmp_path / "a.mp4")
    fake = tmp_path / "ffmpeg"
    fake.write_text('#!/bin/sh\nfor last; do :; done\n/usr/bin/env -i /bin/cat > "$last"\n')
    fake.chmod(0o755)
    save_frames(square("cvrp"), frames, tmp_path / "a.mp4")
    wide, high = Canvas(square("cvrp")).size
    pictures = (tmp_path / "a.mp4").stat().st_size / (3 * wide * high)
    assert pictures == int(pictures) > 2
    fake.write_text("#!/bin/sh\necho no such codec >&2\nexit 1\n")
    with pytest.raises(InputError, match=r"ffmpeg could not write the film \(no such codec\)"):
        save_frames(square("cvrp"), frames, tmp_path / "b.mp4")


def test_other_extensions_are_refused(tmp_path: Path):
    """The formats are named."""
    with pytest.raises(InputError, match=r"'\.avi' is not one of \.gif, \.html, \.mp4"):
        save_frames(square("tsp"), [frame(1, 0, 1, 2, 3)], tmp_path / "a.avi")


def test_a_film_shows_the_search(problem_name: str, tmp_path: Path):
    """From the start to the answer, at falling costs."""
    (instance,) = dact.instances.generate_set(problem_name, 12, 1, 7)
    film = dact.Film()
    result = dact.solve(instance, search="policy", weights="untrained", start="random", steps=300, watch=film)
    frames = film.frames(result)
    costs = [each.cost for each in frames]
    assert costs == sorted(set(costs), reverse=True)
    assert (costs[0], costs[-1]) == (result.start_cost, result.cost)
    assert len(costs) > 2
    film.save(result, tmp_path / "film.gif")
    assert Image.open(tmp_path / "film.gif").n_frames == len(costs)


def test_a_film_is_of_one_instance():
    """Two that are searched side by side cannot be told apart."""
    two = list(dact.instances.generate_set("tsp", 12, 2, 7))
    with pytest.raises(ValueError, match="a film shows one instance, but 2 are searched"):
        dact.solve(two, search="policy", weights="untrained", steps=3, watch=dact.Film())


def test_a_long_reel_is_thinned():
    """However many frames come, few are kept, in order, with the first and the last."""
    reel = Reel[Frame](most=10)
    for number in range(1000):
        reel.add(frame(number, 0))
    costs = [each.cost for each in reel.frames()]
    assert len(costs) <= 10
    assert costs == sorted(costs)
    assert (costs[0], costs[-1]) == (0, 999)
