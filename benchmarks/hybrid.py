"""The hybrid search on batches and on files, in given times: gaps to reference costs, and rates.

    python benchmarks/hybrid.py batches --data DATA --out benchmarks/hybrid_batches.csv
    python benchmarks/hybrid.py files --data DATA --seconds 3 --glob 'tsplib/*.tsp' --out benchmarks/hybrid_files.csv

DATA/validation holds sets with reference costs. Times of batches are of the call, from the set at hand to the last
checked answer, with kernels compiled before; importing PyTorch and starting CUDA are told apart.
"""

import argparse
import csv
import time
from dataclasses import replace
from datetime import date
from pathlib import Path

import numpy as np
import torch

import dact
from dact.bench.measurements import device_name
from dact.evaluation import evaluate
from dact.instances import InstanceSet, read, read_set
from dact.pipeline import SolveConfig
from dact.provenance import commit

BATCHES = (("tsp100", 1000, 2_500), ("cvrp100", 256, 1_000), ("tsp100", 1000, 18_000), ("cvrp100", 256, 7_000))
"""Set, how many of its instances have references, rounds."""
COUNT = 10_000


def tiled(instances: InstanceSet, count: int) -> InstanceSet:
    """The instances again and again; each copy draws for itself."""
    row_M = np.arange(count) % len(instances)
    arrays = ("coordinates", "demand", "capacity", "reference_cost")
    values = {name: getattr(instances, name)[row_M] for name in arrays}
    return replace(instances, **values, numbers=np.arange(count))


def batches(data: Path, count: int, shorten: int) -> list[dict[str, object]]:
    """Mean gap and seconds of each batch."""
    rows = []
    for name, referenced, rounds in BATCHES:
        source = read_set(data / "validation" / f"{name}_seed4321.npz").take(slice(min(referenced, count)))
        config = SolveConfig.flat(search="hybrid", steps=max(1, rounds // shorten))
        evaluate(tiled(source, count), replace(config, steps=1))
        began = time.perf_counter()
        done = evaluate(tiled(source, count), config)
        seconds = time.perf_counter() - began
        error = done.gaps.reshape(-1)[: len(source)].std() / len(source) ** 0.5
        rows.append(
            {"case": name, "instances": count, "rounds": config.steps, "seconds": round(seconds, 2),
             "rounds_per_s": round(count * (config.steps or 0) / seconds), "mean_cost": round(done.mean_cost, 5),
             "gap": round(done.gap or 0.0, 4), "error": round(float(error), 4)}
        )  # fmt: skip
        print(rows[-1], flush=True)
    return rows


def files(data: Path, glob: str, seconds: float, seeds: int) -> list[dict[str, object]]:
    """Gap to the best known value of each file."""
    rows = []
    for path in sorted(data.glob(glob)):
        instance = read(path)
        if not rows:
            dact.solve(instance, time_limit=0.2)
        for seed in range(seeds):
            began = time.perf_counter()
            result = dact.solve(instance, time_limit=seconds, seed=seed)
            rows.append(
                {"case": instance.name, "nodes": instance.size, "limit": seconds, "seed": seed, "cost": result.cost,
                 "best_known": instance.best_known, "gap": None if result.gap is None else round(result.gap, 4),
                 "rounds": result.steps, "seconds": round(time.perf_counter() - began, 2),
                 "local_optimum": result.local_optimum}
            )  # fmt: skip
            print(rows[-1], flush=True)
    gaps = [float(str(row["gap"])) for row in rows if row["gap"] is not None]
    print(f"{glob}: mean gap {np.mean(gaps):.4f} % over {len(gaps)} runs of {seconds} s", flush=True)
    return rows


def main() -> None:
    """Measure and append rows."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("batches", "files"))
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--glob", default="tsplib/*.tsp")
    parser.add_argument("--seconds", type=float, default=3.0)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--count", type=int, default=COUNT)
    parser.add_argument("--shorten", type=int, default=1, help="Divide the rounds of batches by this.")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    began = time.perf_counter()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.zeros(1, device=device)
    print(f"{device} started in {time.perf_counter() - began:.1f} s", flush=True)
    if options.what == "batches":
        rows = batches(options.data, options.count, options.shorten)
    else:
        rows = files(options.data, options.glob, options.seconds, options.seeds)
    facts = {"date": date.today().isoformat(), "device": device_name(device), "commit": commit()}
    if options.out is not None and rows:
        new = not options.out.exists()
        with options.out.open("a", newline="") as stream:
            writer = csv.DictWriter(stream, fieldnames=[*facts, *rows[0]])
            if new:
                writer.writeheader()
            writer.writerows(facts | row for row in rows)


if __name__ == "__main__":
    main()
