"""Solvers side by side: what is measured, who is left out, and what the rows become."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from dact.bench.peers import (
    Contest,
    LeftOut,
    OwnSolver,
    PeerRow,
    PeerSolver,
    Report,
    RowsFile,
    Scale,
    all_solvers,
    cells,
    measure,
    merged,
    points,
    read_rows,
)
from dact.bench.peers.report import lines
from dact.instances import InputError, Instance, InstanceSet, check, generate_set, simplest_routes
from dact.peers import PEERS, Peer
from fake_peers import FAKE, crashing, endless, from_behind, infeasible, named, raising

ROW = PeerRow(
    **{"date": "2026-11-16", "set": "tsp8", "instance": "", "instances": 4, "referenced": 4, "fingerprint": "f"},
    **{"solver": "Fake", "version": "1", "limit": "", "asked_s": 1.0, "seconds": 2.0, "cores": 2, "device": "CPU"},
    **{"busy": 0.5, "load": 1.0, "mean_cost": 3.0, "gap": 1.0, "error": 0.1, "commit": "abc"},
)


def a_set(problem: str = "cvrp", count: int = 3) -> InstanceSet:
    """Instances of seven customers, whose reference is what the fake finds, less a tenth."""
    drawn = generate_set(problem, 7, count, seed=5)
    costs = np.array([check(each, simplest_routes(each)).cost for each in drawn])
    return replace(drawn, reference_cost=costs / 1.1)


def contest(problem: str = "cvrp", count: int = 3, cores: int = 1) -> Contest:
    """A small one."""
    return Contest.of_set(a_set(problem, count), cores)


def measured(what: Contest, *peers: Peer, known: list[PeerRow] | None = None) -> list[PeerRow | LeftOut]:
    """All that comes of these peers with a tenth of a second."""
    solvers = [PeerSolver(peer, what.cores) for peer in peers]
    return list(measure(what, solvers, [0.1], known or [], lambda *seen: None))


def test_a_peer_is_costed_by_our_checker(problem_name: str):
    """Costs and gaps are those of the routes, whatever a peer thinks of them."""
    (row,) = measured(contest(problem_name), FAKE)
    costs = [check(each, simplest_routes(each)).cost for each in a_set(problem_name)]
    assert isinstance(row, PeerRow)
    assert row.mean_cost == pytest.approx(np.mean(costs))
    assert (row.gap, row.error) == (pytest.approx(10), pytest.approx(0, abs=1e-9))
    assert (row.instances, row.referenced, row.cores, row.asked_s) == (3, 3, 1, 0.1)


def test_who_fails_is_named_and_left_out():
    """Missing, crashing, infeasible and raising peers are told apart, and the others' rows stand."""
    found = measured(
        contest(),
        named("Missing", module="no_such_package", package="nothing"),
        named("Crash", solve=crashing),
        named("Wrong", solve=infeasible),
        named("Behind", solve=from_behind),
        named("Rude", solve=raising),
        FAKE,
    )
    assert [str(each) for each in found if isinstance(each, LeftOut)] == [
        "Missing nothing is not installed: pip install 'dact[peers]'",
        "Crash in 0.1 s crashed (its process ended with exit code 7)",
        "Wrong in 0.1 s gave an infeasible answer to cvrp7_seed5[0]: customer 7 is not visited",
        "Behind in 0.1 s gave an infeasible answer to cvrp7_seed5[0]: node index -1 does not exist",
        "Rude in 0.1 s failed on cvrp7_seed5[0]: no such luck",
    ]
    assert [each.solver for each in found if isinstance(each, PeerRow)] == ["Fake"]


def test_a_peer_that_does_not_stop(monkeypatch: pytest.MonkeyPatch):
    """It is ended long after its time, and left out."""
    monkeypatch.setattr("dact.peers.crew.PATIENCE", (1.0, 0.4))
    (found,) = measured(contest(), named("Endless", solve=endless))
    assert "did not stop within" in str(found)


def test_a_set_is_shared_out():
    """Of five instances on two cores the first process has three, and each instance a third of the time."""
    shares = PeerSolver._shares(contest(count=5).rounds[0], 6.0, 2)
    assert [[task.place for task in share] for share in shares] == [[0, 2, 4], [1, 3]]
    assert {task.seconds for share in shares for task in share} == {2.0}


def test_the_best_copy_of_a_file_counts():
    """With two cores the row of a file is no worse than with one."""
    files = [replace(each, name=f"f{number}") for number, each in enumerate(a_set("tsp", 2))]
    one, two = (measured(Contest.of_files("folder", files, cores), FAKE) for cores in (1, 2))
    assert [row.instance for row in two] == ["f0", "f1"]
    assert all(after.mean_cost <= before.mean_cost for before, after in zip(one, two, strict=True))


def test_what_is_known_is_not_measured_again():
    """Rows of an earlier call stand; another version of a solver is another solver."""
    what = contest()
    (row,) = measured(what, FAKE)
    assert measured(what, FAKE, known=[row]) == []
    assert len(measured(what, FAKE, known=[replace(row, version="0")])) == 1


def test_a_missing_solver_whose_rows_are_there():
    """It is not left out: its rows are shown."""
    gone = named("Gone", module="no_such_package")
    (row,) = measured(contest(), FAKE)
    assert measured(contest(), gone, known=[replace(row, solver="Gone", version="3")]) == []
    assert len(measured(contest(), gone, known=[row])) == 1


def test_solvers_of_other_problems_take_no_part():
    """LKH solves no vehicle routing and HGS no tours."""
    takes = {peer.key: [problem for problem in ("tsp", "cvrp") if peer.takes(a_set(problem)[0])] for peer in PEERS}
    assert takes == {"ortools": ["tsp", "cvrp"], "pyvrp": ["tsp", "cvrp"], "hgs": ["cvrp"], "lkh": ["tsp"]}


@pytest.mark.parametrize("method", ["hybrid", "policy"])
def test_ours_on_sets_and_files(problem_name: str, method: str):
    """Both searches give checked rows of sets and of files, and improve on the simplest routes."""
    instances = a_set(problem_name)
    solver = OwnSolver(method=method, cores=1, device="cpu")
    files = Contest.of_files("folder", [instances[0]], 1)
    rows = [
        each for what in (Contest.of_set(instances, 1), files) for each in measure(what, [solver], [0.05], [], _quiet)
    ]
    assert [row.solver for row in rows] == [f"DACT {method}"] * 2
    assert all(row.gap < 10 for row in rows)


def _quiet(*seen: object) -> None:
    pass


@pytest.mark.parametrize("peer", PEERS, ids=lambda peer: peer.key)
def test_real_peers(peer: Peer, problem_name: str):
    """A real peer solves what it takes, with whole and other distances, and our checker passes its answers."""
    pytest.importorskip(peer.module)
    instance = a_set(problem_name)[0]
    scaled = Instance(
        name="whole",
        problem=problem_name,
        rule="euc_2d",
        coordinates=1000 * instance.coordinates,
        demand=instance.demand,
        capacity=instance.capacity,
    )
    for each in (instance, scaled) if peer.takes(instance) else ():
        assert check(each, peer.solve(each, 0.3)).feasible
        assert check(each, peer.solve(each, 0.3)).cost < check(each, simplest_routes(each)).cost


def test_instances_without_references_are_refused():
    """There is no gap to compare."""
    with pytest.raises(InputError, match="has no reference costs"):
        Contest.of_set(generate_set("tsp", 7, 2, seed=1), 1)
    with pytest.raises(InputError, match="has no best known value"):
        Contest.of_files("folder", list(generate_set("tsp", 7, 1, seed=1)), 1)
    with pytest.raises(InputError, match="holds both TSP and CVRP"):
        Contest.of_files("folder", [a_set("tsp")[0], a_set("cvrp")[0]], 1)


def test_times_are_scaled_on_cores_only():
    """8 s of 4 instances on 2 cores are 250 s of 1,000 on 16; a GPU with another number of instances is not shown."""
    scale = Scale(instances=1000, cores=16)
    assert (scale.seconds(replace(ROW, seconds=8)), scale.place(ROW)) == (250, "2 cores scaled to 16")
    gpu = replace(ROW, cores=None, device="H200", instances=1000)
    shown, hidden = points(contest(), [ROW, gpu, replace(gpu, instances=10, asked_s=3.0)], scale)
    assert [(point.place, point.seconds) for point in shown] == [("2 cores scaled to 16", 62.5), ("H200", 2.0)]
    assert hidden == ["Fake on H200: 10 instances, not 1,000"]


def test_time_that_a_solver_got():
    """On a machine that others use, half of 2 s on each core is 1 s; a GPU's time is as measured."""
    scale = Scale(cpu_time=True)
    assert (scale.seconds(ROW), scale.seconds(replace(ROW, cores=None, busy=None))) == (1, 2)


def test_files_are_shown_when_all_are_measured():
    """A mean over some files is no mean over all."""
    files = [replace(each, name=f"f{number}") for number, each in enumerate(a_set("tsp", 2))]
    what = Contest.of_files("folder", files, 1)
    rows = [replace(ROW, instance="f0", gap=1.0), replace(ROW, instance="f1", gap=3.0)]
    (point,), hidden = points(what, [*rows, replace(rows[0], asked_s=9.0)], Scale())
    assert (point.gap, point.worst, point.count) == (2, 3, 2)
    assert hidden == ["Fake in 9 s: 1 of 2 files"]


def test_rows_come_back_from_their_file(tmp_path: Path):
    """Numbers, texts and empty cells alike."""
    file = RowsFile(tmp_path / "rows.csv")
    rows = [ROW, replace(ROW, cores=None, busy=None, error=None, solver="Other, with a comma")]
    for row in rows:
        file.add(row)
    assert file.read() == rows


def test_rows_of_other_benchmarks(tmp_path: Path):
    """`case` is the beginning of a set's name, or a file; rows without a solver take the name that is given."""
    path = tmp_path / "batches.csv"
    path.write_text("device,case,instances,seconds,gap\nH200,tsp100,10000,7.0,0.01\nH200,eil51,,3,0.5\n")
    rows = read_rows(path, "DACT hybrid")
    (row,) = merged(rows, "tsp100_seed4321", [])
    assert (row.solver, row.device, row.cores, row.instances, row.seconds) == ("DACT hybrid", "H200", None, 10_000, 7)
    assert merged(rows, "tsp10_seed1", []) == []
    (file,) = merged(rows, "tsplib", ["eil51", "st70"])
    assert (file.instance, file.asked_s, file.gap) == ("eil51", 3, 0.5)


def test_rows_of_variants(tmp_path: Path):
    """`dact bench hybrid` says `instances` for the set, and `count` for how many."""
    path = tmp_path / "hybrid.csv"
    path.write_text(
        "device,instances,count,variant,limit,seconds,cost,gap\n"
        "H200,tsp100_seed4321,10000,usual,2500 rounds,6.5,7.7,0.008\n"
        "H200,tsp100_seed4321,10000,ruin,2500 rounds,6.6,7.8,0.01\n"
    )
    rows = merged(read_rows(path, "DACT hybrid"), "tsp100_seed4321", [])
    assert [(row.solver, row.instances, row.seconds) for row in rows] == [
        ("DACT hybrid", 10_000, 6.5),
        ("DACT hybrid ruin", 10_000, 6.6),
    ]


@pytest.mark.parametrize(
    ("text", "words"),
    [("case,seconds\ntsp,1\n", "no column gap"), ("seconds,gap\n1,much\n", "line 2: gap holds 'much'")],
)
def test_other_files_are_refused(tmp_path: Path, text: str, words: str):
    """With the file and the column."""
    path = tmp_path / "rows.csv"
    path.write_text(text)
    with pytest.raises(InputError, match=words) as caught:
        read_rows(path)
    assert str(path) in str(caught.value)


def test_the_page_says_what_has_to_be_said():
    """The licence and the limit of LKH, that times are scaled, that the machine was busy, and who is missing."""
    rows = [replace(ROW, solver="LKH"), replace(ROW, solver="DACT hybrid", busy=0.99)]
    scale = Scale(instances=1000, cores=16)
    shown, _ = points(contest(), rows, scale)
    report = Report(
        contest=contest(),
        solvers=list(all_solvers(2).values()),
        points=shown,
        scale=scale,
        left_out=["HGS crashed"],
        command="dact bench peers",
    )
    page = " ".join(report.page().split())
    for words in (
        "free for academic use only",
        "its runs are the limit",
        "**Scaled**",
        "1,000 instances on 16 cores",
        "2 cores scaled to 16",
        "**Idle cores**: LKH used",
        "- HGS crashed",
        "`dact bench peers`",
    ):
        assert words in page


def test_no_gap_has_no_sign():
    """A gap of less than nothing by rounding is 0."""
    shown, _ = points(contest(), [replace(ROW, gap=-3e-15)], Scale())
    assert "| 0.0000 |" in f"| {' | '.join(cells(shown[0]))} |"


def test_a_solver_looks_the_same_in_all_pictures():
    """Whatever the order of rows, ours come first, and a solver has its number; unknown ones come last."""
    known = [each.name for each in all_solvers(2).values()]
    rows = [replace(ROW, solver=name) for name in ("new", "LKH", "DACT hybrid")]
    shown, _ = points(contest(), rows, Scale())
    drawn = [(line.name, line.number) for line in lines(shown, known)]
    assert drawn == [("DACT hybrid", 0), ("LKH", known.index("LKH")), ("new", len(known))]
