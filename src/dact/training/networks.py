"""The networks as training calls them: the same modules, in a chosen precision.

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
    """Where and how to compute. `auto` means the fast way on a GPU and the plain way on a CPU."""

    device: str = "auto"
    precision: str = "auto"
    """Of matrix products: `float32`, `tf32` or `float16`. Weights, norms, sums, losses and costs are float32.
    Encoders without kernels for the tours at hand (of over 128 positions) train in TF32 instead of `float16`."""
    logits: str = "auto"
    """Of matrix products in the decoder, where moves get their probabilities: as `precision` (`auto`), or one of its
    values or `bfloat16`. PyTorch has one setting for all float32 matrices: `float32` and `tf32` do not go together."""
    graph: str = "auto"
    """`true`: whole segments are captured as CUDA graphs; `false`: plain calls."""

    def __post_init__(self) -> None:
        choices = {
            "device": ("cpu", "cuda"),
            "precision": tuple(name for name in PRECISIONS if name != "bfloat16"),
            "logits": tuple(PRECISIONS),
            "graph": ("true", "false"),
        }
        for name, known in choices.items():
            # TOML's true and false are as good as the words.
            value = str(getattr(self, name)).lower()
            object.__setattr__(self, name, value)
            if value not in ("auto", *known):
                raise ValueError(f"runtime.{name} '{value}' is not one of auto, {', '.join(known)}")
        if {self.precision, self.logits} == {"float32", "tf32"}:
            raise ValueError(f"runtime.logits '{self.logits}' does not go with runtime.precision '{self.precision}'")

    def resolved(self) -> "RuntimeConfig":
        """The same without `auto`, but for the logits, which follow what the networks' precision comes to."""
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
    """Actor and critic, and how to call them."""

    policy: Policy
    critic: Critic
    precision: str = "float32"
    logits: str = "auto"
    """Precision of the decoder; `auto`: the same."""
    origin: tuple[str, float] | None = None
    """Name and GPU minutes of the weights they started from."""

    @property
    def device(self) -> torch.device:
        """Where they are."""
        return next(self.policy.parameters()).device

    @property
    def half(self) -> bool:
        """Are matrix products in half precision?"""
        return self.precision == "float16"

    @property
    def narrow(self) -> bool:
        """Are there numbers on the way back that float16 must hold?"""
        return "float16" in (self.precision, self.logits)

    def engine(self, problem: Problem, config: SearchConfig) -> Engine:
        """A search with the policy, in its precision."""
        return engine_for(problem, self.policy, config, self.device, self.precision)

    def by_rows(self, work: Work, features_RNF: Tensor, *others: Tensor) -> tuple[Tensor, ...]:
        """`work` of these rows; on a CPU some of them at a time."""
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
        """Of each row's move, and the entropy of its distribution."""
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
        # The cache of cast weights would go stale between the replays of a graph.
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
    # Made before any capture, which may not see the table being filled.
    policy.places(length, device)
    precision = runtime.precision
    if precision == "float16" and not policy.encoder.has_kernels(length):
        log.info("no kernels in float16 for tours of %d positions and these networks: TF32 instead", length)
        precision = "tf32"
    return Networks(policy=policy, critic=critic, precision=precision, logits=runtime.logits, origin=origin)


def fresh_networks(config: PolicyConfig, seed: int) -> tuple[Policy, Critic]:
    """Random networks that depend on the seed alone, whatever the device."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return Policy(config), make_critic(config)
