"""Available memory, for refusing work that cannot fit."""

from pathlib import Path

GIGABYTE = 1e9
_LIMIT, _USED = Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory.current")


def available_memory() -> int | None:
    """Free bytes of the machine, the container or what this process may take (`ulimit -v`); None if unknown."""
    known = [each for each in (_of_machine(), _of_container(), _of_process()) if each is not None]
    return min(known, default=None)


def refuse_beyond_memory(needed: int, what: str, advice: str) -> None:
    """Raise ValueError if `what` needs more bytes than are available."""
    available = available_memory()
    if available is not None and needed > available:
        sizes = f"{needed / GIGABYTE:.1f} GB of memory, but {available / GIGABYTE:.1f} GB are free"
        raise ValueError(f"{what} needs about {sizes}: {advice}")


def _of_machine() -> int | None:
    try:
        rows = Path("/proc/meminfo").read_text().splitlines()
        return next(1024 * int(row.split()[1]) for row in rows if row.startswith("MemAvailable:"))
    except (OSError, ValueError, IndexError, StopIteration):
        return None


def _of_container() -> int | None:
    try:
        return int(_LIMIT.read_text()) - int(_USED.read_text())
    except (OSError, ValueError):
        return None


def _of_process() -> int | None:
    try:
        import resource

        limit = resource.getrlimit(resource.RLIMIT_AS)[0]
        pages = int(Path("/proc/self/statm").read_text().split()[0])
        return None if limit == resource.RLIM_INFINITY else limit - pages * resource.getpagesize()
    except (ImportError, OSError, ValueError, IndexError):
        return None
