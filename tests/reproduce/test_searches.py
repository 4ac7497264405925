"""Reproductions that search sets: tiny here, quick ones where slow tests run."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from dact.cards import SHIPPED
from dact.instances import InputError, generate_set
from dact.policy import load_weights
from dact.reproduce import STUDIES, NeedsError, Request, ShardDone, Table, paper, reproduce
from dact.reproduce.base import Cell
from dact.reproduce.libraries import LibrariesConfig, copies
from dact.reproduce.main_table import MainConfig
from dact.reproduce.peers_beside import beside
from dact.reproduce.published_sets import published_set
from dact.reproduce.runs import turned
from dact.reproduce.sizes import SizesConfig, with_wavelengths
from dact.reproduce.stability import StabilityConfig

TINY = {
    "main_table": MainConfig(sets=(("tsp", 20), ("cvrp", 20)), count=2, steps=(1, 2), rounds=2),
    "stability": StabilityConfig(sets=(("tsp", 20),), count=3, steps=(2, 4), seeds=2),
    "sizes": SizesConfig(sizes=(20,), count=2, steps=2),
    "libraries": LibrariesConfig(count=1, runs=2, faster=2500, smallest=True),
}


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Request:
    """Quick versions that take a second."""
    for module, config in TINY.items():
        monkeypatch.setattr(f"dact.reproduce.{module}.QUICK", config)
    return Request(out=tmp_path, quick=True, models=tmp_path / "none", device="cpu")


def columns(table: Table) -> dict[str, list[Cell]]:
    """The cells below each header."""
    return dict(zip(table.columns, (list(column) for column in zip(*table.rows, strict=True)), strict=True))


def only_table(name: str, request: Request) -> dict[str, list[Cell]]:
    """Of an outcome that is not drawn."""
    outputs = STUDIES[name].make(request).outputs
    return columns(next(output for output in outputs if isinstance(output, Table)))


def test_main(tiny: Request):
    """Every set has a row for each number of steps, with recent tours kept too, an augmented one and the hybrid search,
    and all have costs."""
    table = only_table("main", tiny)
    ours = ["T = 1, tabu 64", "T = 2, tabu 64", "hybrid, 2 rounds"]
    assert table["set"] == ["TSP20"] * 6 + ["CVRP20"] * 6
    assert table["search"] == ["T = 1", "T = 2", "T = 2 x4", *ours, "T = 1", "T = 2", "T = 2 x6", *ours]
    assert all(cost > 3 for cost in table["cost"])
    assert table["cost"][1] <= table["cost"][0]
    assert table["paper: cost"] == [None] * 12


def test_other_solvers_beside_the_main_table():
    """Rows of the committed comparison, scaled, with what must be said of LKH; sets without rows are named."""
    folder = Path(__file__).parents[2] / "docs/reproduction/peers"
    (table,), told, missing = beside([("tsp", 20), ("tsp", 100)], folder)
    found = columns(table)
    assert missing == ["TSP20"]
    assert set(found["solver"]) == {"OR-Tools", "PyVRP", "LKH"}
    assert set(found["on"]) == {"2 cores scaled to 16"}
    assert "academic use only" in told[-1]
    assert beside([("tsp", 20)], folder) == ([], [], ["TSP20"])


def test_compiling_is_not_timed(tiny: Request, monkeypatch: pytest.MonkeyPatch):
    """Each set is tried once with one step of each search that has kernels of its own; nothing where all is done."""
    from dact.reproduce import runs

    tried = []

    def evaluate(instances, config, **kept):
        if "out" not in kept:
            tried.append((instances.name, config.search, config.policy.tabu, config.steps))
        return real(instances, config, **kept)

    real = runs.evaluate
    monkeypatch.setattr(runs, "evaluate", evaluate)
    STUDIES["main"].make(tiny)
    names = ("tsp20_seed1234", "cvrp20_seed1234")
    searches = (("policy", 0), ("policy", 64), ("hybrid", 0))
    assert tried == [(name, *search, 1) for name in names for search in searches]
    STUDIES["main"].make(tiny)
    assert len(tried) == 6


def test_main_goes_on(tiny: Request):
    """What was interrupted in the middle goes on from its files and gives the same costs."""
    whole = only_table("main", tiny)
    again = Request(out=tiny.out / "again", quick=True, models=tiny.models, device="cpu", progress=interrupt_at(0.5))
    with pytest.raises(KeyboardInterrupt):
        STUDIES["main"].make(again)
    kept = {path.name: path.stat().st_mtime_ns for path in again.out.glob("runs/main-quick/*.jsonl")}
    assert 0 < len(kept) < 6
    resumed = only_table("main", Request(out=again.out, quick=True, models=tiny.models, device="cpu"))
    assert resumed["cost"] == whole["cost"]
    assert all(seconds is not None for seconds in resumed["seconds"])
    for name, changed in kept.items():
        assert (again.out / "runs/main-quick" / name).stat().st_mtime_ns == changed


def interrupt_at(most: float):
    """Progress that plays Ctrl-C."""

    def progress(fraction: float, detail: str) -> None:
        if fraction > most:
            raise KeyboardInterrupt

    return progress


def test_stability(tiny: Request):
    """The range is that of the runs' means, which are in the files."""
    table = only_table("stability", tiny)
    files = sorted((tiny.out / "runs/stability-quick").glob("*.jsonl"))
    lines = [[json.loads(line) for line in file.read_text().splitlines()] for file in files]
    assert len(lines) == 2
    assert table["T"] == [2, 4]
    for place, cost_of in enumerate([lambda line: line["marks"][0][1], lambda line: line["cost"]]):
        means = [np.mean([cost_of(line) for line in each]) for each in lines]
        assert table["range"][place] == pytest.approx(max(means) - min(means))
    assert table["paper: range within"] == [None, None]


def test_sizes(tiny: Request):
    """Both ways to reuse the cyclic encoding are searched, and what the absolute one needs is said."""
    table = only_table("sizes", tiny)
    assert table["wavelengths"] == ["of the size at hand", "of 50"]
    assert any("tsp50-absolute" in sentence for sentence in STUDIES["sizes"].make(tiny).missing)


def test_wavelengths_of_another_size():
    """At the trained size both ways are one; at another they differ."""
    own, kept = (load_weights(SHIPPED / "tsp50.safetensors") for _ in range(2))
    kept = with_wavelengths(kept, 50)
    device = next(own.policy.parameters()).device
    assert own.policy.places(50, device).equal(kept.policy.places(50, device))
    assert not own.policy.places(20, device).equal(kept.policy.places(20, device))


def test_libraries(tiny: Request, data: Path):
    """The smallest of each library; the paper's numbers stand only beside searches as long as its own."""
    request = Request(out=tiny.out, quick=True, data=data, device="cpu")
    bands, instances = (columns(output) for output in STUDIES["libraries"].make(request).outputs)
    assert set(instances["instance"]) == {"eil51", "X-n101-k25"}
    assert set(instances["paper: average"]) == {None}
    assert all(best <= average for best, average in zip(bands["best"], bands["average"], strict=True))


def test_shards(tiny: Request):
    """Shards share searches of a single block, and a call without one finds all of them done."""
    shared, counts = replace(tiny, out=tiny.out / "shared"), []
    for number in (1, 2, 3):
        with pytest.raises(ShardDone, match=f"shard {number}/3 is done"):
            reproduce("main", replace(shared, shard=(number, 3)))
        counts.append(len(list(shared.out.glob("runs/*/*.jsonl"))))
    assert counts == [3, 6, 8]
    assert not list(shared.out.glob("*.md"))
    kept = {path: path.read_bytes() for path in shared.out.glob("runs/*/*.jsonl")}
    found = only_table("main", shared)
    assert {path: path.read_bytes() for path in shared.out.glob("runs/*/*.jsonl")} == kept
    assert found["cost"] == only_table("main", tiny)["cost"]


def test_shards_take_turns():
    """Each has as many searches of every kind, where kinds alternate and searches have a single block."""
    first = [[turned((number, 4), place)[0] for place in range(16)] for number in (1, 2, 3, 4)]
    for turns in first:
        assert sum(turn == 1 for turn in turns[::2]) == sum(turn == 1 for turn in turns[1::2]) == 2
    assert all(sorted(column) == [1, 2, 3, 4] for column in zip(*first, strict=True))
    assert turned((1, 1), 5) == (1, 1)


def test_libraries_spread_over_sizes():
    """Some of many are from all sizes; all, where there are not more."""
    sets = [generate_set("tsp", size, 1, 0) for size in range(5, 15)]
    assert [each.customers for each in LibrariesConfig(count=3).of(sets)] == [6, 10, 13]
    assert LibrariesConfig(count=10).of(sets) == LibrariesConfig().of(sets) == sets
    assert [each.customers for each in LibrariesConfig(count=2, smallest=True).of(sets)] == [5, 6]


def test_fewer_instances_and_seeds(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    """A reduced version has files and blocks of its own kind, says so, and keeps the paper's number beside it."""
    full = StabilityConfig(sets=(("tsp", 20),), steps=(2,))
    monkeypatch.setattr("dact.reproduce.stability.FULL", full)
    request = Request(out=tmp_path, instances=3, seeds=2, device="cpu")
    _, paths = reproduce("stability", request)
    page = paths[0].read_text()
    assert (
        "**A reduced version**, smaller than the full one: 3 instances instead of 10,000, 2 seeds instead of 10."
        in page
    )
    assert "command: dact reproduce stability --instances 3 --seeds 2 --device cpu" in page
    assert len(list((tmp_path / "runs/stability-instances3-seeds2").glob("*.jsonl"))) == 2
    assert STUDIES["stability"].minutes(request) == 0.5


def test_libraries_need_data(tiny: Request):
    """Without the files one sentence says which."""
    with pytest.raises(NeedsError, match=r"--data DIR with files tsplib/\*.tsp"):
        reproduce("libraries", tiny)


def test_libraries_need_best_known_values(tiny: Request, tmp_path: Path):
    """A file of somebody's own is refused by name before anything is searched."""
    own = tmp_path / "tsplib" / "own.tsp"
    own.parent.mkdir()
    lines = ["NAME: own", "TYPE: TSP", "DIMENSION: 4", "EDGE_WEIGHT_TYPE: EUC_2D", "NODE_COORD_SECTION"]
    own.write_text("\n".join([*lines, "1 0 0", "2 0 9", "3 9 9", "4 9 0", "EOF", ""]))
    with pytest.raises(InputError, match=r"own\.tsp: has no best known value"):
        reproduce("libraries", replace(tiny, data=tmp_path))


def test_copies(tmp_path: Path):
    """An instance as a set of equal ones."""
    path = tmp_path / "five.tsp"
    replace(generate_set("tsp", 5, 1, 0), reference_cost=np.array([2.0])).save_npz(path.with_suffix(".npz"))
    runs = copies(path.with_suffix(".npz"), 3)
    assert len(runs) == 3
    assert runs.reference_cost.tolist() == [2.0, 2.0, 2.0]
    assert (runs.coordinates == runs.coordinates[0]).all()


def test_published_sets(tmp_path: Path):
    """The first instances of the whole set, with references where the data folder has them."""
    (tmp_path / "test_reference").mkdir()
    costs = np.arange(10_000.0)
    np.savez(tmp_path / "test_reference/cvrp20_seed1234.npz", reference_cost=costs)
    few = published_set("cvrp", 20, 3, tmp_path)
    whole = generate_set("cvrp", 20, 10_000, 1234)
    assert (few.demand == whole.demand[:3]).all()
    assert few.reference_cost is not None
    assert few.reference_cost.tolist() == [0, 1, 2]
    assert published_set("tsp", 20, 3, tmp_path).reference_cost is None


def test_paper_main_table():
    """Four rows for each of six sets; augmented ones are x4 for TSP and x6 for CVRP."""
    table = paper.main()
    assert len(table) == 6
    assert table["tsp", 100]["10000x4"] == paper.PaperRow(7.77, 0.09, "14 h")
    assert table["cvrp", 20]["1000"] == paper.PaperRow(6.14, 0.04, "4 min")
    assert all(len(searches) == 4 for searches in table.values())


def test_paper_numbers():
    """The means of the paper's rows are the means that it prints."""
    rows = paper.libraries()
    assert list(rows["eil51"].values()) == [0.23, 1.06, 0.23, 0.87, 0.23, 0.26]
    for prefix, count, means in (
        ("x-", 22, [4.32, 5.98, 3.80, 5.29, 2.97, 3.85]),
        ("", 29, [2.03, 3.82, 1.41, 2.98, 1.01, 1.90]),
    ):
        own = [list(row.values()) for name, row in rows.items() if name.startswith("x-") == bool(prefix)]
        assert len(own) == count
        np.testing.assert_allclose(np.mean(own, axis=0), means, atol=0.006)


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    ["main", "libraries", "sizes", "stability", "aspects", "curriculum", "operators", "correlations"],
)
def test_quick_versions(name: str, tmp_path: Path, data: Path):
    """As people call them; the page says that it is a quick version and what is smaller."""
    outcome, paths = reproduce(name, Request(out=tmp_path, quick=True, data=data, models=tmp_path, device="cpu"))
    assert outcome.smaller in paths[0].read_text()
