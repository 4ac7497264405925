"""Actor and critic as training calls them: the modules of dact.policy, in a chosen precision.

Shape letters: S aspects, R rows (of one step, or of all steps of a segment), N tour length, F features, D width.
"""

import logging
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass

import torch
from torch import Tensor

from dact.policy import Critic, Policy, PolicyConfig, make_critic
from dact.problems import Problem
from dact.search import PRECISIONS, Engine, SearchConfig, engine_for
from dact.training.chunks import Work, in_chunks

log = logging.getLogger(__name__)
HALVES = {name: each.dtype for name, each in PRECISIONS.items() if each.half}


@dataclass(frozen=True, kw_only=True)
class RuntimeConfig:
    """Device and precision. `auto` means fast on a GPU (float16, CUDA graphs) and plain on a CPU."""

    device: str = "auto"
    precision: str = "auto"
    """Of matrix products: `float32`, `tf32` or `float16`. Weights, norms, sums, losses and costs are float32.
    Encoders without float16 kernels for the tour length (over 128 positions) train in TF32 instead."""
    logits: str = "auto"
    """Of matrix products in the decoder: as `precision` (`auto`), one of its values, or `bfloat16`. `float32` and
    `tf32` cannot be mixed, since PyTorch has one setting for all float32 products."""
    graph: str = "auto"
    """`true`: capture whole segments as CUDA graphs; `false`: plain calls."""

    def __post_init__(self) -> None:
        choices = {
            "device": ("cpu", "cuda"),
            "precision": tuple(name for name in PRECISIONS if name != "bfloat16"),
            "logits": tuple(PRECISIONS),
            "graph": ("true", "false"),
        }
        for name, known in choices.items():
            # TOML's true and false are accepted too.
            value = str(getattr(self, name)).lower()
            object.__setattr__(self, name, value)
            if value not in ("auto", *known):
                raise ValueError(f"runtime.{name} '{value}' is not one of auto, {', '.join(known)}")
        if {self.precision, self.logits} == {"float32", "tf32"}:
            raise ValueError(f"runtime.logits '{self.logits}' does not go with runtime.precision '{self.precision}'")

    def resolved(self) -> "RuntimeConfig":
        """The same without `auto`, except `logits`, which follows the precision of the networks."""
        device = self.device
        if device == "auto":
            device = "cuda" if torch.cuda.is_available() else "cpu"
        if device == "cuda" and not torch.cuda.is_available():
            raise ValueError("runtime.device 'cuda' was asked for, but PyTorch sees no CUDA device")
        gpu = device == "cuda"
        if self.graph == "true" and not gpu:
            raise ValueError("runtime.graph needs a CUDA device")
        if self.logits in HALVES and not gpu:
            raise ValueError(f"runtime.logits '{self.logits}' needs a CUDA device")
        return RuntimeConfig(
            device=device,
            precision=self.precision if self.precision != "auto" else ("float16" if gpu else "float32"),
            logits=self.logits,
            graph=self.graph if self.graph != "auto" else ("true" if gpu else "false"),
        )


@dataclass(frozen=True, kw_only=True)
class Networks:
    """Actor and critic with their precision."""

    policy: Policy
    critic: Critic
    precision: str = "float32"
    logits: str = "auto"
    """Precision of the decoder; `auto`: as `precision`."""
    origin: tuple[str, float] | None = None
    """Name and GPU minutes of the initial weights."""

    @property
    def device(self) -> torch.device:
        """The device of the networks."""
        return next(self.policy.parameters()).device

    @property
    def half(self) -> bool:
        """Are matrix products in half precision?"""
        return self.precision == "float16"

    @property
    def narrow(self) -> bool:
        """Does the backward pass use float16, so that losses must be scaled?"""
        return "float16" in (self.precision, self.logits)

    def engine(self, problem: Problem, config: SearchConfig) -> Engine:
        """An engine that searches with the policy in this precision."""
        return engine_for(problem, self.policy, config, self.device, self.precision)

    def by_rows(self, work: Work, features_RNF: Tensor, *others: Tensor) -> tuple[Tensor, ...]:
        """`work` on these rows; on a CPU in chunks."""
        if self.device.type != "cpu":
            return work(features_RNF, *others)
        parameters = [*self.policy.parameters(), *self.critic.parameters()]
        return in_chunks(work, (features_RNF, *others), parameters, features_RNF.shape[1])

    def encode(self, features_RNF: Tensor) -> Tensor:
        """(S, R, N, D) aspects."""
        place_ND = self.policy.places(features_RNF.shape[1], features_RNF.device)
        with self._precision():
            aspects_SRND: Tensor = self.policy.encoder(features_RNF, place_ND)
        return aspects_SRND

    def log_prob(self, aspects_SRND: Tensor, open_RNN: Tensor, move_R2: Tensor) -> tuple[Tensor, Tensor]:
        """Log-probability of each row's move, and the entropy of its distribution."""
        half = HALVES.get(self.precision if self.logits == "auto" else self.logits)
        aspects_SRND = aspects_SRND if half is None else aspects_SRND.to(half)
        return self.policy.decoder.log_prob(aspects_SRND, open_RNN, move_R2)

    def value(self, aspects_SRND: Tensor, standing_R2: Tensor) -> Tensor:
        """(R,) values; the critic does not train the encoder."""
        aspects_SRND = aspects_SRND.detach()
        value_R: Tensor = self.critic(aspects_SRND.half() if self.half else aspects_SRND, standing_R2)
        return value_R

    def _precision(self) -> AbstractContextManager[object]:
        if not self.half:
            return nullcontext()
        # Cached casts of the weights would be stale when a graph is replayed.
        return torch.autocast(self.device.type, dtype=torch.float16, cache_enabled=False)


def make_networks(
    policy: Policy, critic: Critic, runtime: RuntimeConfig, length: int, origin: tuple[str, float] | None = None
) -> Networks:
    """Networks on their device, for tours up to a length. Sets the process's matrix precision on a GPU."""
    device = torch.device(runtime.device)
    policy, critic = policy.to(device), critic.to(device)
    if device.type == "cuda":
        torch.set_float32_matmul_precision("highest" if "float32" in (runtime.precision, runtime.logits) else "high")
        torch.backends.cuda.matmul.allow_fp16_reduced_precision_reduction = False
    # The table must be filled before any capture.
    policy.places(length, device)
    precision = runtime.precision
    if precision == "float16" and not policy.encoder.has_kernels(length):
        log.info("no kernels in float16 for tours of %d positions and these networks: TF32 instead", length)
        precision = "tf32"
    return Networks(policy=policy, critic=critic, precision=precision, logits=runtime.logits, origin=origin)


def fresh_networks(config: PolicyConfig, seed: int) -> tuple[Policy, Critic]:
    """Random networks that depend on the seed only, not on the device."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return Policy(config), make_critic(config)
