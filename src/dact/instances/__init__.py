"""Instances and solutions on disk and in memory, numpy only, and the independent checker."""

from dact.instances.checker import Routes, Verdict, check, simplest_routes
from dact.instances.errors import InputError, InputWarning
from dact.instances.facts import FACTS, Facts, facts_of
from dact.instances.generate import capacity_for, generate_set
from dact.instances.instance import Instance
from dact.instances.instance_set import InstanceSet
from dact.instances.measures import better_directions
from dact.instances.published import best_known, read_best_known
from dact.instances.pyvrp_data import from_pyvrp, to_pyvrp
from dact.instances.reading import read, read_set, with_references
from dact.instances.solutions import read_solution, write_solution
from dact.instances.starts import STARTS, Start, read_start, repaired

__all__ = [
    "FACTS",
    "STARTS",
    "Facts",
    "InputError",
    "InputWarning",
    "Instance",
    "InstanceSet",
    "Routes",
    "Start",
    "Verdict",
    "best_known",
    "better_directions",
    "capacity_for",
    "check",
    "facts_of",
    "from_pyvrp",
    "generate_set",
    "read",
    "read_best_known",
    "read_set",
    "read_solution",
    "read_start",
    "repaired",
    "simplest_routes",
    "to_pyvrp",
    "with_references",
    "write_solution",
]
