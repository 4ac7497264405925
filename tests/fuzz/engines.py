"""The engines of a GPU on a machine without one: kernels under Triton's interpreter, CUDA C as C++ with one lane."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from unittest.mock import patch

from dact.kernels import descent
from dact.search.engines.fused import FusedEngine, why_not
from kernels.descent_cases import Form, compiled_form

INTERPRETED_STEPS = 2
"""Of the policy: a step takes a second under the interpreter."""


def limited(asked: dict[str, object]) -> dict[str, object]:
    """The same settings, as far as the interpreter is fast enough for them."""
    if asked["search"] == "hybrid":
        return asked
    return asked | {"steps": min(INTERPRETED_STEPS, int(str(asked["steps"]))), "augment": 1, "device": "cpu"}


@contextmanager
def gpu_forms() -> Iterator[None]:
    """Inside, searches on a CPU use what a GPU would run."""

    def fused(problem, policy, config, device, precision):
        assert why_not(policy, config) is None
        return FusedEngine(problem, policy, config, precision="float32", graph_steps=1)

    with (
        patch("dact.pipeline.methods.engine_for", fused),
        patch.object(descent, "launch", lambda work: _one_lane()(work)),
        patch.object(descent, "compile_form", lambda terrain, **has: None),
    ):
        yield


@cache
def _one_lane() -> Form:
    return compiled_form(Path(tempfile.mkdtemp(prefix="dact-fuzz-")))
