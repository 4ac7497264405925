"""Evaluations that are kept, go on, and are shared."""

import json
import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from dact.evaluation import Evaluation, evaluate, results_file
from dact.instances import InputError, InstanceSet, generate_set
from dact.pipeline import SolveConfig
from dact.team import Team

CONFIG = SolveConfig(steps=6, start="random")


@pytest.fixture
def instances(problem_name: str) -> InstanceSet:
    """Seven, one of them without a reference."""
    drawn = generate_set(problem_name, 8, 7, 1)
    return replace(drawn, reference_cost=np.array([np.nan, 2, 2, 2, 2, 2, 2]))


@pytest.fixture
def whole(instances: InstanceSet) -> Evaluation:
    """All in one go."""
    return evaluate(instances, CONFIG, rows=2)


def test_interrupted_evaluation_goes_on(instances: InstanceSet, whole: Evaluation, tmp_path: Path):
    """What was finished before Ctrl-C is not solved again, and the costs are those of a run that was let be."""
    out, solved = tmp_path / "kept.jsonl", []

    def press(fraction: float, cost: float) -> None:
        if fraction > 0.7:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        evaluate(instances, CONFIG, rows=2, out=out, progress=press)
    assert len(out.read_text().splitlines()) == 4
    done = evaluate(instances, CONFIG, rows=2, out=out, progress=lambda fraction, cost: solved.append(fraction))
    assert len(solved) == 2 * CONFIG.stop().steps
    assert np.array_equal(done.costs, whole.costs)
    assert done.gap == whole.gap
    assert done.solved == 3
    again = evaluate(instances, CONFIG, rows=2, out=out)
    assert (again.solved, again.instance_steps_per_second) == (0, 0)
    assert np.array_equal(again.costs, whole.costs)


def test_marks_are_kept(instances: InstanceSet, tmp_path: Path):
    """A search that was interrupted and shared goes on with its marks; with other marks it is another search."""
    out, config, marks = tmp_path / "kept.jsonl", replace(CONFIG, steps=9), (2, 5)
    whole = evaluate(instances, config, rows=2, marks=marks)

    def press(fraction: float, cost: float) -> None:
        if fraction > 0.6:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        evaluate(instances, config, rows=2, out=out, marks=marks, progress=press)
    evaluate(instances, config, rows=2, out=out, marks=marks, shard=(2, 2))
    out.write_text(out.read_text()[:-9])
    done = evaluate(instances, config, rows=2, out=out, marks=marks)
    assert 0 < done.solved < len(instances)
    assert [each.costs.tolist() for each in done.stages] == [each.costs.tolist() for each in whole.stages]
    again = evaluate(instances, config, rows=2, out=out, marks=marks)
    assert [each.work_seconds for each in again.stages] == [each.work_seconds for each in done.stages]
    for others in ((), (2,), (2, 6)):
        with pytest.raises(InputError, match="other settings"):
            evaluate(instances, config, rows=2, out=out, marks=others)
    line = json.loads(out.read_text().splitlines()[-1])
    out.write_text(json.dumps(line | {"marks": line["marks"][:1]}) + "\n")
    with pytest.raises(InputError, match="line 1 is a result for another set"):
        evaluate(instances, config, rows=2, out=out, marks=marks)


def test_files_without_seconds_go_on(tmp_path: Path):
    """An older version did not keep them: costs count, the time is unknown."""
    instances, out = generate_set("tsp", 6, 4, 1), tmp_path / "kept.jsonl"
    evaluate(instances, CONFIG, rows=2, out=out)
    first, *others = map(json.loads, out.read_text().splitlines())
    del first["seconds"]
    out.write_text("".join(json.dumps(line) + "\n" for line in (first, *others)))
    done = evaluate(instances, CONFIG, rows=2, out=out)
    assert (done.solved, done.work_seconds) == (0, None)


def test_shards_share_a_file(instances: InstanceSet, whole: Evaluation, tmp_path: Path):
    """The figures cover all that the file holds, and references stand beside the costs."""
    out = tmp_path / "kept.jsonl"
    first = evaluate(instances, CONFIG, rows=2, out=out, shard=(1, 2))
    assert first.places.tolist() == [0, 1, 4, 5]
    both = evaluate(instances, CONFIG, rows=2, out=out, shard=(2, 2))
    assert np.array_equal(both.costs, whole.costs)
    lines = [json.loads(line) for line in out.read_text().splitlines()]
    assert {line["instance"]: line["reference"] for line in lines} == {0: None} | dict.fromkeys(range(1, 7), 2.0)


def test_a_line_cut_short_is_solved_again(instances: InstanceSet, whole: Evaluation, tmp_path: Path):
    """A process that was killed while writing costs a block and nothing else."""
    out = tmp_path / "kept.jsonl"
    evaluate(instances, CONFIG, rows=2, out=out)
    out.write_text(out.read_text()[:-9])
    assert np.array_equal(evaluate(instances, CONFIG, rows=2, out=out).costs, whole.costs)


def test_a_line_cut_short_between_others(instances: InstanceSet, whole: Evaluation, tmp_path: Path):
    """Another process may add to the file after one was killed while writing."""
    out = tmp_path / "kept.jsonl"
    evaluate(instances, CONFIG, rows=2, out=out, shard=(1, 2))
    out.write_text(out.read_text()[:-9])
    assert evaluate(instances, CONFIG, rows=2, out=out, shard=(2, 2)).places.tolist() == [0, 1, 2, 3, 4, 6]
    done = evaluate(instances, CONFIG, rows=2, out=out)
    assert np.array_equal(done.costs, whole.costs)
    assert done.solved == 2


def test_a_disk_that_is_full_is_said(tmp_path: Path):
    """What could not be written whole is no result, and nobody thinks that it is kept."""
    import resource

    instances, out = generate_set("tsp", 6, 6, 1), tmp_path / "kept.jsonl"
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (300, before[1]))
    try:
        with pytest.raises(InputError, match=r"kept.jsonl: cannot be written \(only \d+ of \d+ bytes were taken\)"):
            evaluate(instances, CONFIG, rows=6, out=out)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, ignored)
    done = evaluate(instances, CONFIG, rows=6, out=out)
    assert np.array_equal(done.costs, evaluate(instances, CONFIG, rows=6).costs)
    assert done.solved == 6


def test_a_block_that_cannot_be_kept_is_saved_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Its lines go to a file of their own, which the message names, and count once they are moved over."""
    instances, out = generate_set("tsp", 6, 4, 1), tmp_path / "kept.jsonl"
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    append = results_file._append
    with monkeypatch.context() as full:
        full.setattr(results_file, "_append", lambda path, block: "full" if path == out else append(path, block))
        with pytest.raises(InputError, match=r"cannot be written \(full\): its last block was saved in") as caught:
            evaluate(instances, CONFIG, rows=2, out=out)
    Path(str(caught.value).split()[-1]).rename(out)
    assert evaluate(instances, CONFIG, rows=2, out=out).solved == 2


def test_a_device_is_no_file_to_keep_results_in(tmp_path: Path):
    """A file that never ends is not read."""
    out = tmp_path / "kept.jsonl"
    out.symlink_to("/dev/full")
    with pytest.raises(InputError, match=r"kept\.jsonl: is not a regular file"):
        evaluate(generate_set("tsp", 6, 4, 1), CONFIG, rows=2, out=out)


def test_more_processes_than_blocks_are_refused():
    """Rather than leaving some of them idle."""
    with pytest.raises(InputError, match=r"too few blocks of 4 instances \(1\) for 3 processes.*--rows"):
        evaluate(generate_set("tsp", 6, 3, 1), CONFIG, rows=4, team=Team(rank=0, size=3))


def test_other_files_are_refused(tmp_path: Path):
    """Results of another set, of other weights or settings, and what is no result at all are not mixed in."""
    instances, out = generate_set("tsp", 6, 3, 1), tmp_path / "kept.jsonl"
    evaluate(instances, CONFIG, rows=2, out=out)
    others = [
        (generate_set("tsp", 6, 3, 2), CONFIG, 2),
        (instances.take(slice(2)), CONFIG, 2),
        (instances, replace(CONFIG, seed=1), 2),
        (instances, replace(CONFIG, weights="untrained"), 2),
        (instances, CONFIG, 1),
    ]
    for other, config, rows in others:
        with pytest.raises(InputError, match=r"kept.jsonl: line 1 is a result for another set"):
            evaluate(other, config, rows=rows, out=out)
    out.write_text('{"instance": 1}\n')
    with pytest.raises(InputError, match=r"kept.jsonl: line 1 is not a result"):
        evaluate(instances, CONFIG, rows=2, out=out)
    with pytest.raises(InputError, match="cannot be written"):
        evaluate(instances, CONFIG, rows=2, out=tmp_path / "gone" / "kept.jsonl")


def test_two_processes_give_the_costs_of_one(tmp_path: Path):
    """`torchrun -m dact evaluate` prints once, and every cost is that of one process."""
    path, out = tmp_path / "set.npz", tmp_path / "kept.jsonl"
    instances = generate_set("cvrp", 8, 7, 1)
    instances.save_npz(path)
    alone = evaluate(instances, SolveConfig(steps=6, weights="untrained"), rows=2)
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    command += ["-m", "dact", "evaluate", path, "--steps", "6", "--weights", "untrained", "--rows", "2"]
    command += ["--out", out, "--json"]
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["mean_cost"] == alone.mean_cost
    assert done.stderr.count("mean_cost") == 1
    lines = [json.loads(line) for line in out.read_text().splitlines()]
    assert {line["instance"]: line["cost"] for line in lines} == dict(enumerate(alone.costs.tolist()))
