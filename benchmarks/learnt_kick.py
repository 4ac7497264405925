"""Is a learnt kick worth its time? Random kicks against kicks that begin where a network says, at equal time.

    python benchmarks/learnt_kick.py cvrp 100 --init cvrp100 --train 80 --set DATA/validation/cvrp100_seed4321.npz
    OMP_NUM_THREADS=1 python benchmarks/learnt_kick.py cvrp 100 --init cvrp100 --train 330 --shorten 8 --headroom 0 \\
        --set DATA/validation/cvrp100_seed4321.npz --count 512 --seconds 2,5,12 --runs 4 --every 150 --powers 2  # a CPU
    dact bench hybrid --kicks benchmarks/learnt_kick.csv --out docs/reproduction/kicks  # table and picture

A policy's look costs as much as one to three rounds of a kick and a descent, so one look serves many rounds: the
network gives every customer a chance that a kick which begins there gains, and the centres of the next rounds are
drawn by these chances. Three tables:

1. headroom, at equal rounds: the chances are measured instead, by trying kicks at every customer of the very tour (the
   time that takes is not counted). A network that never sees such trials can hardly do better;
2. training: the encoder of the policy and a small head learn these chances by supervision, on tours of searches that
   they guide themselves; the factor is how many times as often a guided kick gains as a random one;
3. equal time: gaps of both on instances with reference costs. Every run has instances and draws of its own.

docs/log.md has the answer.
"""

import argparse
import csv
import math
import time
from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path

import numpy as np
import torch
from kicked_walks import Walk
from torch import Tensor, nn

from dact.bench.measurements import device_name
from dact.instances import InstanceSet, read_set
from dact.kernels.tour_view import tour_view
from dact.policy import starting_weights
from dact.problems import PROBLEMS, Batch, Problem
from dact.provenance import commit
from dact.search.engines.fused_policy import FusedPolicy
from dact.search.hybrid import _anchored

DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
POWERS = (1, 2, 4)
PIECES = 1 if DEVICE.type == "cuda" else 10
"""Times that the clock is read between two looks: on a CPU the rounds between them take long."""
Guide = Callable[[Walk], Tensor]
"""Gives (R, N - D) chances of the customers."""


def spent() -> float:
    """Seconds of training: on a CPU those that this process had of it, since other work may share the cores."""
    return time.perf_counter() if DEVICE.type == "cuda" else time.process_time()


def now() -> float:
    """Seconds, when the device has done what it was asked for."""
    if DEVICE.type == "cuda":
        torch.cuda.synchronize()
    return time.perf_counter()


class Network(nn.Module):
    """The encoder of a policy, and a head that gives each customer a logit."""

    def __init__(self, problem: Problem, size: int, init: str) -> None:
        super().__init__()
        self.problem = problem
        self.policy = starting_weights(problem.name, problem.features, size, init).policy
        width = self.policy.encoder.aspects * self.policy.config.encoder_config.dim
        self.head = nn.Sequential(nn.Linear(width, 64), nn.ReLU(), nn.Linear(64, 1))
        self.fused = FusedPolicy(self.policy, "float16")

    def forward(self, features_BNF: Tensor, kernels: bool = False) -> Tensor:
        """(B, N) logits by position."""
        if kernels:
            self.fused.refresh()
            x_SBND = self.fused._encode(features_BNF, as_trained=False)
        else:
            x_SBND = self.policy.encode(features_BNF)
        logit: Tensor = self.head(x_SBND.permute(1, 2, 0, 3).flatten(2).float()).squeeze(2)
        return logit

    def features(self, walk: Walk, tour_RN: Tensor) -> Tensor:
        """What the policy sees of the tours."""
        assert self.problem.view is not None
        return tour_view(tour_RN, walk.batch, self.problem.view, self.problem.idle)[0]

    def guide(self, sharpness: float) -> Guide:
        """Chances of the customers to some power."""

        @torch.inference_mode()
        def look(walk: Walk) -> Tensor:
            tour_RN = walk.tour()
            logit_RN = self(self.features(walk, tour_RN), kernels=DEVICE.type == "cuda")
            by_node_RN = torch.empty_like(logit_RN).scatter_(1, tour_RN, logit_RN)
            return by_node_RN[:, walk.batch.depots :].sigmoid() ** sharpness

        return look


def measured(kicks: int) -> Guide:
    """Chances by trial: what kicks at each customer gain in fact."""
    return lambda walk: walk.gains(kicks).mean(2)


def sampled(problem: Problem, size: int, count: int, seed: int) -> tuple[Batch, Tensor]:
    """Random instances and greedy tours."""
    batch = problem.sample(size, count, torch.Generator().manual_seed(seed))
    return batch.to(DEVICE), problem.greedy_start(batch).to(DEVICE)


def headroom(problem: Problem, size: int, count: int, total: int, kicks: int) -> Iterator[dict[str, object]]:
    """Mean costs after the same rounds, centres anywhere or by measured gains."""
    batch, tour_BN = sampled(problem, size, count, 79)
    for every in (0, 40, 10):
        walk, guide = Walk(batch, tour_BN, 9), measured(kicks)
        row: dict[str, object] = {"table": "headroom", "centres": f"measured every {every}" if every else "anywhere"}
        for target in range(10, total + 1, 10):
            if every and (target - 10) % every == 0:
                walk.draw_centres(guide(walk))
            cooling = math.log(walk.settings.cooling) / total
            walk.advance(walk.rows, target, walk.settings.temperature, cooling)
            if target in (total // 4, total // 2, total):
                cost = batch.cost(_anchored(walk.rows.best_RN)).double().mean().item()
                row[f"cost after {target}"] = round(cost, 5)
        yield row


def train(
    network: Network, size: int, seconds: float, *, pools: int, rows: int, step: int, limit: int
) -> Iterator[dict[str, object]]:
    """Learn the share of kicks at each customer that gain, on tours of guided and of random searches of all ages."""
    heads, encoder = network.head.parameters(), network.policy.encoder.parameters()
    optimiser = torch.optim.Adam([{"params": heads, "lr": 9e-4}, {"params": encoder, "lr": 3e-4}])
    seen: list[tuple[Tensor, Tensor]] = []
    walks: list[tuple[Walk, int]] = []
    began, number, recent = spent(), 0, []
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimiser, lambda _: 0.02 + 0.49 * (1 + math.cos(math.pi * min(1, (spent() - began) / seconds)))
    )
    while spent() - began < seconds:
        which = number % pools
        if number < pools:
            walks.append((Walk(*sampled(network.problem, size, rows, 1000 + number), number), limit * which // pools))
        walk, age = walks[which]
        if age >= limit:
            walk, age = Walk(*sampled(network.problem, size, rows, 100_000 + number), number), 0
        walk.draw_anywhere() if number % 4 == 0 else walk.draw_centres(network.guide(2.0)(walk))
        walks[which] = walk, age + step
        walk.advance(walk.rows, age + step, walk.settings.temperature, math.log(walk.settings.cooling) / limit)
        gained_RM = (walk.gains(2) > 0).float().mean(2)
        tour_RN = walk.tour()
        padded_RN = nn.functional.pad(gained_RM, (walk.batch.depots, 0), value=-1.0)
        seen = [*seen[-127:], (network.features(walk, tour_RN), padded_RN.gather(1, tour_RN))]
        picks = [len(seen) - 1, *torch.randint(len(seen), (6,)).tolist()]
        shares = [_learn(network, optimiser, *seen[pick]) for pick in picks]
        schedule.step()
        recent, number = [*recent[-63:], shares[0]], number + 1
        if number % 100 == 0 or spent() - began >= seconds:
            *guided, anywhere = np.mean(recent, axis=0)
            yield {
                "table": "training",
                "seconds": round(spent() - began, 1),
                "updates": 7 * number,
                **{f"factor, power {p}": round(float(x / anywhere), 3) for p, x in zip(POWERS, guided, strict=True)},
            }


def _learn(network: Network, optimiser: torch.optim.Optimizer, features_BNF: Tensor, gained_BN: Tensor) -> list[float]:
    """One update. Gives the shares of guided kicks that would have gained, by the chances to each power, and of all."""
    with torch.autocast(DEVICE.type, dtype=torch.bfloat16, enabled=DEVICE.type == "cuda"):
        logit_BN = network(features_BNF)
    customer_BN = gained_BN >= 0
    wanted, found = gained_BN[customer_BN], logit_BN[customer_BN].float()
    loss = nn.functional.binary_cross_entropy_with_logits(found, wanted)
    optimiser.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(network.parameters(), 1.0)
    optimiser.step()
    shares = []
    for power in (*POWERS, 0):
        chance_BN = logit_BN.detach().float().sigmoid() ** power * customer_BN
        shares.append(float(((chance_BN * gained_BN).sum(1) / chance_BN.sum(1)).mean()))
    return shares


def equal_time(
    problem: Problem, instances: InstanceSet, seed: int, limit: float, every: int, guides: dict[str, Guide | None]
) -> Iterator[dict[str, object]]:
    """Gaps after the same seconds; differences to the first guide's are paired."""
    batch = problem.collate_set(instances)
    tour_BN, batch = problem.greedy_start(batch).to(DEVICE), batch.to(DEVICE)
    first_B: np.ndarray | None = None
    for name, guide in guides.items():
        walk, looked, target, piece = Walk(batch, tour_BN, seed), 0.0, 0, max(1, every // PIECES)
        began = now()
        while (share := (now() - began) / limit) < 1:
            if guide is not None and target % (piece * PIECES) == 0:
                before = now()
                walk.draw_centres(guide(walk))
                looked += now() - before
            target += piece
            walk.advance(walk.rows, target, walk.settings.temperature * walk.settings.cooling**share)
        took = now() - began
        cost_B = batch.cost(_anchored(walk.rows.best_RN)).double().cpu().numpy()
        gap_B = 100 * (cost_B / instances.reference_cost - 1)
        first_B = gap_B if first_B is None else first_B
        _, copy_B = np.unique(instances.numbers, return_inverse=True)
        each = np.bincount(copy_B, gap_B - first_B) / np.bincount(copy_B)
        yield {
            "table": "equal time",
            "centres": name,
            "limit": limit,
            "seed": seed,
            "seconds": round(took, 2),
            "rounds": target,
            "network's share %": round(100 * looked / took, 1),
            "gap %": round(float(gap_B.mean()), 4),
            "more than anywhere": round(float((gap_B - first_B).mean()), 4),
            "error": round(float(each.std() / len(each) ** 0.5), 4),
        }


def runs_of(file: Path, count: int, runs: int) -> Iterator[InstanceSet]:
    """So many instances with references for each run: the next ones of the file, and behind its end the first."""
    instances = read_set(file)
    referenced = np.flatnonzero(np.isfinite(instances.reference_cost))
    for run in range(runs):
        yield instances.take(referenced[(run * count + np.arange(count)) % len(referenced)])


def write(path: Path, rows: list[dict[str, object]]) -> None:
    """Add rows to a CSV file, and columns where it lacks some."""
    known: list[dict[str, object]] = []
    if path.exists():
        with path.open(newline="") as file:
            known = list(csv.DictReader(file))
    rows = [*known, *rows]
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(dict.fromkeys(name for row in rows for name in row)))
        writer.writeheader()
        writer.writerows(rows)


def main() -> None:
    """See the module's docstring."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("problem", choices=sorted(PROBLEMS))
    parser.add_argument("size", type=int)
    parser.add_argument("--init", help="weights that the encoder starts from", required=True)
    parser.add_argument("--train", type=float, default=80, help="seconds")
    parser.add_argument("--set", type=Path, help="instances with reference costs")
    parser.add_argument("--count", type=int, default=10_000, help="instances, repeated where the set has fewer")
    parser.add_argument("--seconds", default="7", help="of each search at equal time, such as 2,5,12")
    parser.add_argument("--runs", type=int, default=1, help="at equal time, each with other instances and draws")
    parser.add_argument("--seed", type=int, default=9, help="of the first run")
    parser.add_argument("--powers", default="1,2", help="of the learnt chances")
    parser.add_argument("--every", type=int, default=100, help="rounds between two looks")
    parser.add_argument("--headroom", type=int, default=400, help="rounds of the first table; 0 leaves it out")
    parser.add_argument("--shorten", type=int, default=1, help="divide the numbers of rows by this, to try things out")
    parser.add_argument("--keep", type=Path, help="file of the trained network; read instead of training if there")
    parser.add_argument("--out", type=Path, help="CSV file")
    told = parser.parse_args()
    torch.manual_seed(0)
    problem = PROBLEMS[told.problem].with_idle_moves(False)
    network, part = Network(problem, told.size, told.init).to(DEVICE), told.shorten
    rows = []

    def tell(table: Iterator[dict[str, object]]) -> None:
        for row in table:
            measured = {"date": date.today().isoformat(), "commit": commit(), "device": device_name(DEVICE.type)}
            rows.append({**measured, "case": f"{told.problem}{told.size}", **row})
            print(rows[-1], flush=True)

    if told.headroom:
        tell(headroom(problem, told.size, max(2, 1056 // part), told.headroom, 4))
    if told.keep and told.keep.exists():
        network.load_state_dict(torch.load(told.keep, weights_only=True))
    elif told.train:
        tell(train(network, told.size, told.train, pools=8, rows=max(4, 512 // part), step=50, limit=1500))
        if told.keep:
            torch.save(network.state_dict(), told.keep)
    if told.set:
        guides: dict[str, Guide | None] = {"anywhere": None}
        guides |= {f"learnt, power {power}": network.guide(float(power)) for power in told.powers.split(",")}
        for run, instances in enumerate(runs_of(told.set, max(4, told.count // part), told.runs)):
            for limit in map(float, told.seconds.split(",")):
                tell(equal_time(problem, instances, told.seed + run, limit, told.every, guides))
    if told.out:
        write(told.out, rows)


if __name__ == "__main__":
    main()
