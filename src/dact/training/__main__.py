"""`python -m dact.training CONFIG.toml`: a run with one line per validation, where the full command is not at hand."""

import argparse
import logging
import sys
from pathlib import Path

from dact.training.command import train_command
from dact.training.config import load_config
from dact.training.recorder import Report
from dact.training.timing import BatchTiming, time_batch


def show(report: Report) -> None:
    """One line per validation or event."""
    if report.validation_cost is None and not report.event:
        return
    gap = "" if report.validation_gap is None else f" gap {report.validation_gap:.3f} %"
    numbers = " ".join(f"{name} {value:.4g}" for name, value in report.metrics.items())
    cost = "" if report.validation_cost is None else f"cost {report.validation_cost:.4f}{gap} "
    print(
        f"{report.minutes:7.2f} min  segment {report.segments}  progress {report.progress:.3f}  "
        f"warm-up {report.warm_up_steps}  rate {report.actor_rate:.2e}  {cost}[{report.event}]  {numbers}",
        flush=True,
    )


def _timing(path: Path, settings: list[str]) -> BatchTiming:
    config = load_config(path, settings)
    schedule = config.schedule
    return time_batch(
        config.problem, config.size, schedule.rows, schedule.horizon, config.ppo.segment, runtime=config.runtime
    )


def main() -> int:
    """Parse, train, print."""
    parser = argparse.ArgumentParser(prog="python -m dact.training", description=__doc__)
    parser.add_argument("config", type=Path, nargs="?")
    parser.add_argument("--minutes", type=float, help="limit of this call")
    parser.add_argument("--segments", type=int, help="stop once the run has so many segments")
    parser.add_argument("--resume", type=Path, metavar="DIR")
    parser.add_argument("--init", metavar="WEIGHTS")
    parser.add_argument("--out", type=Path, metavar="DIR")
    parser.add_argument("--set", dest="settings", action="append", default=[], metavar="KEY=VALUE")
    parser.add_argument("--no-tensorboard", dest="tensorboard", action="store_false")
    parser.add_argument("--time", action="store_true", help="only time batches of the config's shape")
    arguments = vars(parser.parse_args())
    timed = arguments.pop("time")
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(name)s %(message)s", datefmt="%H:%M:%S")
    try:
        if timed:
            print(_timing(arguments["config"], arguments["settings"]))
            return 0
        outcome = train_command(arguments.pop("config"), watch=show, **arguments)
    except ValueError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    best = outcome.progress.best_cost
    print(f"{outcome.folder}: {outcome.progress.segments} segments, best {best:.4f}, finished {outcome.finished}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
