"""Signal and noise of the actor's gradient, for several settings of a training, with the weights as they are.

    python benchmarks/gradient_noise.py configs/cvrp100-fast.toml --init cvrp100 \
        "" "rows=2112 share=0.125" "rows=2112 share=0.125 group=8 takeover=any"

Each text holds the settings of a case, as `--set` of `dact train` takes them. No weight changes meanwhile. The signal
is what gradients of different instances have in common: the mean product of two horizons' mean gradients. The noise is
the mean square of one segment's gradient, clipped as in training, less the signal. Their ratio is printed for the
gradient as it is, and with every weight's gradient divided by its root mean square, about as Adam sees it.
"""

import argparse
import sys
import tempfile
import time
from pathlib import Path

import torch
from torch import Tensor

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))

from dact.training.command import make_trainer
from dact.training.config import load_config
from dact.training.learner import Learner
from dact.training.recorder import Silence


def gradients(learner: Learner, horizons: int, segments: int, warm_up: int) -> tuple[Tensor, float]:
    """(H, K, L) gradients of so many segments of so many horizons, and the seconds that a segment took."""
    learner.optimiser.set_rates(0.0, 0.0)
    found, spent = [], 0.0
    for _ in range(horizons):
        learner.new_batch()
        learner.warm_up(warm_up)
        learner.back_to_best()
        for _ in range(segments):
            _wait()
            began = time.perf_counter()
            learner.segment()
            _wait()
            spent += time.perf_counter() - began
            # As Adam leaves it: clipped, without the scale of the loss.
            found.append(learner.optimiser.grad_GL[0].to("cpu", copy=True))
    return torch.stack(found).view(horizons, segments, -1), spent / len(found)


def ratio(gradient_HKL: Tensor) -> float:
    """Signal over noise of one segment's gradient."""
    mean_HL = gradient_HKL.mean(1)
    horizons = len(mean_HL)
    products = mean_HL.sum(0).square().sum() - mean_HL.square().sum()
    signal = products / (horizons * (horizons - 1))
    return float(signal / (gradient_HKL.square().sum(2).mean() - signal))


def as_adam_sees(gradient_HKL: Tensor) -> Tensor:
    """Each weight's gradients over their root mean square."""
    return gradient_HKL / gradient_HKL.square().mean((0, 1)).sqrt().clamp(min=torch.finfo(torch.float32).tiny ** 0.25)


def _wait() -> None:
    if torch.cuda.is_available():
        torch.cuda.synchronize()


def main() -> None:
    """A line for each case."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("config", type=Path)
    parser.add_argument("cases", nargs="+")
    parser.add_argument("--init", required=True, help="weights to start from")
    parser.add_argument("--horizons", type=int, default=24, help="with new instances each")
    parser.add_argument("--segments", type=int, default=5, help="of each of them")
    parser.add_argument("--warm-up", type=int, default=50)
    options = parser.parse_args()
    print("ms a segment, ratio, as Adam sees it, mean reward a step, entropy, settings")
    for case in options.cases:
        config = load_config(options.config, case.split())
        with tempfile.TemporaryDirectory() as folder:
            learner = make_trainer(config, Path(folder), Silence(), init=options.init).learner
        gradient_HKL, seconds = gradients(learner, options.horizons, options.segments, options.warm_up)
        seen, read = ratio(as_adam_sees(gradient_HKL)), learner.read_metrics()
        numbers = f"{1000 * seconds:9.1f} {ratio(gradient_HKL):9.5f} {seen:9.5f}"
        print(f"{numbers} {read['reward']:9.6f} {read['entropy']:6.3f}  {case or '-'}", flush=True)


if __name__ == "__main__":
    main()
