"""Searches that are watched, paused, stopped, left, and downloaded."""

import csv
import io
import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from PIL import Image
from web_client import BAKERY, HARBOUR, ISLANDS, Client, Frames, file_at, file_of

from dact.instances import check, read, read_solution
from dact.pipeline import SolveConfig
from dact.solver import Plan, Result
from dact.web import runs as runs_module
from dact.web.runs import KEPT, MAX_RUNS, Run, Runs


@pytest.mark.parametrize("path", [HARBOUR, ISLANDS])
def test_a_run_shows_ever_better_solutions(server: Client, path):
    """Frames have feasible routes whose cost is the checker's and never rises."""
    instance = read(path)
    frames = server.begin(file_at(path, seconds=0.5)).until("done")
    bests = [frame["best"] for frame in frames if "best" in frame]
    assert len(bests) >= 1
    for best in bests:
        verdict = check(instance, best["routes"])
        assert verdict.feasible
        assert verdict.cost == pytest.approx(best["cost"]) == pytest.approx(sum(best["lengths"]))
        assert best["loads"] == [sum(int(instance.demand[node]) for node in route) for route in best["routes"]]
    costs = [best["cost"] for best in bests]
    assert costs == sorted(costs, reverse=True)
    assert all(check(instance, frame["current"]).feasible for frame in frames if "current" in frame)


def test_frames_are_no_more_than_a_page_needs(monkeypatch, clock):
    """However often the search looks, a frame comes when a twentieth of a second has passed since the last."""
    monkeypatch.setattr(runs_module, "time", clock)
    run, shown_at = Run(read(ISLANDS), SolveConfig.flat(steps=1)), []
    monkeypatch.setattr(run, "_look", lambda seen, status: shown_at.append(clock.now))
    for _ in range(100):
        clock.advance(0.02)
        run._watch(None)
    assert shown_at == pytest.approx([0.06 * count for count in range(1, 34)])


def test_the_policy_can_be_watched(server: Client):
    """The paper's search shows frames as well."""
    frames = server.begin(file_at(HARBOUR, seconds=0.5, search="policy", walks=2)).until("done")
    assert "best" in {key for frame in frames for key in frame}
    assert frames[-1]["steps"] > 0


@pytest.mark.parametrize(("path", "own", "other"), [(HARBOUR, ".sol", ".tour"), (ISLANDS, ".tour", ".sol")])
def test_answers_can_be_downloaded(server: Client, tmp_path, path, own: str, other: str):
    """Solution files are read back as solutions of the cost shown; the table has a row for each stop; pictures open."""
    instance = read(path)
    run = server.begin(file_at(path, seconds=0.5))
    cost = [frame["best"]["cost"] for frame in run.until("done") if "best" in frame][-1]

    def answer(suffix: str) -> tuple[int, bytes]:
        return server.ask("GET", f"/api/runs/{run.id}/answer{suffix}")[:2]

    (tmp_path / f"a{own}").write_bytes(answer(own)[1])
    assert check(instance, read_solution(tmp_path / f"a{own}", instance)).cost == pytest.approx(cost)
    rows = list(csv.DictReader(io.StringIO(answer(".csv")[1].decode())))
    assert {row["name"] for row in rows} == {instance.title(node) for node in range(instance.size)}
    assert sum(float(row["leg"]) for row in rows) == pytest.approx(cost)
    assert Image.open(io.BytesIO(answer(".png")[1])).format == "PNG"
    assert Image.open(io.BytesIO(answer(".gif")[1])).format == "GIF"
    assert answer(other)[0] == 400
    assert answer(".exe") == (
        400,
        json.dumps(
            {"error": "there is no answer as '.exe', but as .sol, .tour, .json, .csv, .png, .gif"},
            separators=(",", ":"),
        ).encode(),
    )


def test_a_pause_stops_the_clock(server: Client):
    """A search that was paused for longer than its time limit still has its time before it."""
    run = server.begin(file_at(HARBOUR, seconds=0.5))
    run.until("running")
    server.tell(run.id, "pause")
    paused = run.until("paused")[-1]
    time.sleep(0.6)
    assert not server.runs[run.id].over
    server.tell(run.id, "go-on")
    assert run.until("done")[-1]["steps"] > paused["steps"]


def long_runs(server: Client, path: Path) -> Iterator[Frames]:
    """A search that runs, and one that is paused."""
    for pause in (False, True):
        run = server.begin(file_at(path, seconds=600))
        run.until("running")
        if pause:
            server.tell(run.id, "pause")
            run.until("paused")
        yield run


def test_a_stopped_run_keeps_what_it_found(server: Client):
    """Stop ends a search, also a paused one, and its answer can be downloaded."""
    for run in long_runs(server, BAKERY):
        assert server.tell(run.id, "stop") == 200
        assert run.until("stopped", "done")[-1]["status"] == "stopped"
        assert server.ask("GET", f"/api/runs/{run.id}/answer.sol")[0] == 200


def test_a_closed_tab_ends_its_run(server: Client):
    """A search nobody watches any more ends, paused or not."""
    for run in long_runs(server, HARBOUR):
        run.close()
        assert server.wait_until_over(run.id)


def test_two_runs_do_not_mix(server: Client):
    """Searches side by side answer each for its own file."""
    first, second = (server.begin(file_at(path, seconds=0.5)) for path in (HARBOUR, ISLANDS))
    for run, path in ((first, HARBOUR), (second, ISLANDS)):
        best = [frame["best"] for frame in run.until("done") if "best" in frame][-1]
        assert check(read(path), best["routes"]).feasible


def test_runs_are_few(server: Client):
    """One run more than the limit is refused, until another is stopped."""
    runs = [server.begin(file_at(BAKERY, seconds=600)) for _ in range(MAX_RUNS)]
    status, error = server.refusal("/api/runs", file_at(BAKERY))
    assert (status, error) == (429, "4 searches are running, the most at a time: stop one or close its tab")
    for run in runs:
        run.close()
        assert server.wait_until_over(run.id)
    server.begin(file_at(BAKERY, seconds=0.1)).until("done")


def test_unknown_runs_and_commands_are_refused(server: Client):
    """A run that is not there any more is said to be gone, and a command must be one."""
    assert server.refusal("/api/runs/nobody/pause", {}) == (404, "there is no such run any more: start it again")
    run = server.begin(file_at(BAKERY, seconds=0.1))
    status, error = server.refusal(f"/api/runs/{run.id}/dance", {})
    assert (status, error) == (400, "a run can be told pause, go-on, stop, not 'dance'")
    run.until("done")


def test_old_answers_make_room():
    """Of runs that are over only the last are kept."""
    runs = Runs()
    config = SolveConfig.flat(search="hybrid", steps=1)
    begun = []
    for _ in range(KEPT + 3):
        begun.append(runs.begin(read(BAKERY), config))
        begun[-1].wait(60)
    assert runs[begun[-1].id] is begun[-1]
    assert runs[begun[3].id] is begun[3]
    with pytest.raises(ValueError, match="no such run"):
        runs[begun[2].id]


def test_roads_are_driven_in_their_better_direction(server: Client):
    """Where distances differ by direction, the cost shown is that of the direction shown."""
    matrix = "0,1,9,9,9\n9,0,1,9,9\n9,9,0,1,9\n9,9,9,0,1\n1,9,9,9,0\n"
    frames = server.begin(file_of("roads.csv", matrix, seconds=0.3)).until("done")
    best = [frame["best"] for frame in frames if "best" in frame][-1]
    assert (best["cost"], best["routes"]) == (5, [[0, 1, 2, 3, 4]])


def test_names_and_decimal_loads_are_shown(server: Client):
    """Customers are called as in the file, and loads are in its units."""
    table = "name,x,y,demand\nhall,0,0,0\nAnna,0,1,0.5\nBert,1,1,1.5\nCleo,1,0,1\n"
    run = server.begin(file_of("names.csv", table, capacity=2, demand_unit=0.5, seconds=0.3))
    told = run.first["instance"]
    assert told["titles"] == ["hall", "Anna", "Bert", "Cleo"]
    assert (told["demand"], told["capacity"]) == ([0, 0.5, 1.5, 1], 2)
    best = [frame["best"] for frame in run.until("done") if "best" in frame][-1]
    assert sorted(best["loads"]) == [1, 2]


def test_a_fleet_that_is_too_small_is_told(server: Client):
    """Fewer vehicles than the loads need are refused; fewer than routes are found for end in a sentence."""
    table = "x,y,demand\n0,0,0\n0,1,4\n1,1,4\n1,0,4\n2,0,4\n2,1,4\n"

    def order(vehicles: int) -> dict[str, object]:
        return file_of("fleet.csv", table, capacity=10, vehicles=vehicles, seconds=0.3)

    assert server.begin(order(3)).until("done", "failed")[-1]["status"] == "done"
    failed = server.begin(order(2)).until("done", "failed")[-1]
    assert failed["status"] == "failed"
    assert failed["message"].startswith("fleet: ")
    assert server.refusal("/api/runs", order(1))[0] == 400


@pytest.mark.parametrize(
    ("error", "message"),
    [(MemoryError("no memory"), "no memory"), (KeyError("x"), "error of DACT, please report it: x")],
)
def test_a_search_that_fails_says_so(server: Client, monkeypatch, error: Exception, message: str):
    """Whatever ends a search, the page is told and the run is over."""

    def results(self: Plan, watch: object) -> Iterator[tuple[int, Result]]:
        raise error
        yield

    monkeypatch.setattr(Plan, "results", results)
    run = server.begin(file_at(BAKERY))
    assert run.until("failed")[-1]["message"] == message
    assert server.wait_until_over(run.id)
