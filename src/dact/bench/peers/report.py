"""A comparison as a page in Markdown and a picture, both of which say how the numbers came about."""

import textwrap
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

from dact.bench.peers.contest import Contest, Solver
from dact.bench.peers.points import Point, Scale
from dact.instances.files import write_atomically
from dact.plotting.panels import new_figure
from dact.plotting.race import Line, plot_race

COLUMNS = ("solver", "version", "on", "seconds", "asked", "gap %", "+-", "worst", "busy", "load", "limit")
TEXTS = ("solver", "version", "on", "limit")
DISTURBED = 0.85
"""Share of CPU time below which a measurement counts as disturbed."""
CPU_TIME = (
    "**CPU time**: seconds on cores are the CPU time that the solver got, divided by the cores, because others used "
    "the machine too. That is nearly the wall-clock time of a quiet machine; limits were kept by their own clocks."
)
FOOT_CHARACTERS = 150
PICTURES = (".png", ".svg")


@dataclass(frozen=True, kw_only=True)
class Report:
    """All that is shown of a comparison."""

    contest: Contest
    solvers: Sequence[Solver]
    """All that there are: rows of earlier calls are shown too, with what has to be said of their solvers."""
    points: Sequence[Point]
    scale: Scale
    left_out: Sequence[str] = ()
    command: str = ""

    def write(self, folder: Path) -> list[Path]:
        """The page and the pictures. The rows are in their file already."""
        page = folder / f"{self.contest.name}.md"
        write_atomically(page, lambda stream: stream.write(self.page().encode()))
        return [page, *(self._draw(folder / f"{self.contest.name}{suffix}") for suffix in PICTURES if self.points)]

    def page(self) -> str:
        """Markdown."""
        parts = [f"# {self.title}", self.table(), *([f"![]({self.contest.name}.png)"] if self.points else [])]
        parts += self.notes()
        if not self.contest.of_one_set:
            parts.append(f"Files: {', '.join(part.name for part in self.contest.rounds)}.")
        if self.left_out:
            parts.append("Left out:\n\n" + "\n".join(f"- {each}" for each in self.left_out))
        parts.append(f"Made by `{self.command}` on {self._machines}. Measured rows are in `{self.contest.name}.csv`.")
        return "\n\n".join(parts) + "\n"

    @property
    def _machines(self) -> str:
        return "; ".join(sorted({_machine(point) for point in self.points})) or "no machine"

    @property
    def title(self) -> str:
        """What is compared."""
        if self.contest.of_one_set:
            return f"{self.contest.name}: {len(self.contest.rounds[0].members):,} instances"
        return f"{self.contest.name}: {len(self.contest.rounds)} files"

    @property
    def across(self) -> str:
        """What the times are."""
        clock = ", CPU time over cores" if self.scale.cpu_time else ""
        if not self.contest.of_one_set:
            return f"seconds for each file{clock}"
        count = self.scale.instances or len(self.contest.rounds[0].members)
        cores = f"; CPU times scaled to {self.scale.cores} cores" if self.scale.cores else ""
        return f"seconds for {count:,} instances{clock}{cores}"

    def table(self) -> str:
        """A row for each point."""
        rows = [cells(point) for point in self.points]
        head = ["---" if name in TEXTS else "---:" for name in COLUMNS]
        return "\n".join(f"| {' | '.join(line)} |" for line in (COLUMNS, head, *rows))

    def notes(self) -> list[str]:
        """How to read the numbers."""
        return [
            self._rule(),
            *([self._scaled()] if self._is_scaled else []),
            *self._terms(),
            *([CPU_TIME] if self.scale.cpu_time else self._disturbed()),
        ]

    def _terms(self) -> list[str]:
        names = {point.solver for point in self.points}
        return sorted({each.terms for each in self.solvers if each.terms and each.name in names})

    @property
    def _is_scaled(self) -> bool:
        return any("scaled" in point.place for point in self.points)

    def _rule(self) -> str:
        time = (
            "Every solver has the same wall-clock time for the whole set, each by its own kind of limit: peers run "
            "one process on each core, which solve instances one after another, ours searches many side by side."
            if self.contest.of_one_set
            else "Every solver has the same wall-clock time for each file and all cores: a peer starts on each core "
            "with the customers in another order, and its best answer counts; ours uses the cores together."
        )
        return (
            f"{time} Seconds are from the start to the last answer; starting processes, importing and compiling are "
            "not in them. Every answer was checked and costed again in float64 by our own checker. Gaps are means over "
            "instances, +- their standard error; busy is the share of the cores' time that the solver got, load the "
            "number of processes that wanted a core in the minute before."
        )

    def _scaled(self) -> str:
        to = [f"{self.scale.instances:,} instances"] if self.scale.instances else []
        to += [f"{self.scale.cores} cores"] if self.scale.cores else []
        return (
            f"**Scaled**: times on CPU cores were measured on fewer and multiplied, to {' on '.join(to)}; dashed in "
            "the picture. Instances are independent, so that twice the cores take half the time, if they are as "
            "fast as these. Times on a GPU are as measured."
        )

    def _disturbed(self) -> list[str]:
        names = sorted({point.solver for point in self.points if point.busy is not None and point.busy < DISTURBED})
        told = (
            f"**Idle cores**: {', '.join(names)} used less than {DISTURBED:.0%} of the cores' time in some rows. Where "
            "the load is above the number of cores, others used them: measure again on a quiet machine. Else the "
            "solver itself left them idle, or there were too few instances for all of them."
        )
        return [told] if names else []

    def _foot(self) -> list[str]:
        """What the picture has to say itself."""
        few = f"Dashed: measured with {len(self.contest.rounds[0].members):,} instances and scaled."
        busy = [] if self.scale.cpu_time or not self._disturbed() else ["Some left cores idle: see the page."]
        return [f"On {self._machines}.", *([few] if self._is_scaled else []), *self._terms(), *busy]

    def _draw(self, path: Path) -> Path:
        import matplotlib as mpl

        figure = new_figure(8, 5.4)
        drawn = lines(self.points, [each.name for each in self.solvers])
        plot_race(drawn, self.title, self.across, figure.add_subplot())
        foot = textwrap.fill(" ".join(self._foot()), FOOT_CHARACTERS)
        figure.supxlabel(foot, x=0.01, ha="left", fontsize=7, color="#555555", parse_math=False)
        picture = BytesIO()
        # Identifiers that do not change from one call to the next, and no date of SVG's own.
        with mpl.rc_context({"svg.hashsalt": path.stem}):
            about = {"Date": None} if path.suffix == ".svg" else {}
            figure.savefig(picture, format=path.suffix[1:], dpi=160, metadata={"Title": self.title, **about})
        write_atomically(path, lambda stream: stream.write(picture.getvalue()))
        return path


def lines(shown: Sequence[Point], known: Sequence[str]) -> list[Line]:
    """A line for each solver and machine, its points by their times. Known solvers come first, in their order, so that
    each looks the same in all pictures."""
    groups: dict[tuple[str, str], list[Point]] = defaultdict(list)
    for point in shown:
        groups[point.solver, point.place].append(point)
    told = len({point.place for point in shown}) > 1
    order = list(dict.fromkeys([*known, *(point.solver for point in shown)]))
    drawn = []
    for (solver, place), group in sorted(groups.items(), key=lambda each: order.index(each[0][0])):
        group.sort(key=lambda point: point.seconds)
        drawn.append(
            Line(
                name=f"{solver} ({place})" if told or "scaled" in place else solver,
                number=order.index(solver),
                seconds=[point.seconds for point in group],
                gaps=[point.gap for point in group],
                errors=[point.error or 0.0 for point in group],
                dashed="scaled" in place,
            )
        )
    return drawn


def cells(point: Point) -> tuple[str, ...]:
    """A row of the table, on the page and on the screen."""
    return (
        point.solver,
        point.version or "-",
        point.place,
        f"{point.seconds:,.4g}",
        f"{point.asked_s:g}",
        f"{point.gap:z.4f}",
        *("-" if value is None else f"{value:.4f}" for value in (point.error, point.worst)),
        *("-" if value is None else f"{value:.2f}" for value in (point.busy, point.load)),
        point.limit or "-",
    )


def _machine(point: Point) -> str:
    return f"{point.place} of {point.device}" if "core" in point.place else point.place
