"""The networks as training calls them: the same modules, in a chosen precision and compiled if wanted.

Shape letters: S aspects, R rows (of one step, or of all steps of a segment), N tour length, F features, D width.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass

import torch
from torch import Tensor

from dact.policy import Critic, Policy, PolicyConfig, make_critic

PRECISIONS = ("float32", "tf32", "bf16")
COMPILED = ("none", "encoder", "all")


@dataclass(frozen=True, kw_only=True)
class RuntimeConfig:
    """Where and how to compute. `auto` means the fast way on a GPU and the plain way on a CPU."""

    device: str = "auto"
    precision: str = "auto"
    """`float32`; `tf32`: matrix products in TF32; `bf16`: the encoder in bfloat16 and the rest in TF32."""
    compile: str = "auto"
    """Which networks go through torch.compile: `none` (or false), the `encoder`, or `all` (or true).
    It costs a minute to set up and has not been timed beside the kernels, so `auto` means none."""
    graph: str = "auto"
    """`true`: whole segments are captured as CUDA graphs; `false`: plain calls."""

    def __post_init__(self) -> None:
        choices = {
            "device": ("cpu", "cuda"),
            "precision": PRECISIONS,
            "compile": COMPILED,
            "graph": ("true", "false"),
        }
        for name, known in choices.items():
            value = str(getattr(self, name)).lower()
            if name == "compile":
                value = {"true": "all", "false": "none"}.get(value, value)
            # TOML's true and false are as good as the words.
            object.__setattr__(self, name, value)
            if value not in ("auto", *known):
                raise ValueError(f"runtime.{name} '{value}' is not one of auto, {', '.join(known)}")

    def resolved(self) -> "RuntimeConfig":
        """The same without `auto`."""
        device = self.device
        if device == "auto":
            device = "cuda" if torch.cuda.is_available() else "cpu"
        if device == "cuda" and not torch.cuda.is_available():
            raise ValueError("runtime.device 'cuda' was asked for, but PyTorch sees no CUDA device")
        gpu = device == "cuda"
        if self.graph == "true" and not gpu:
            raise ValueError("runtime.graph needs a CUDA device")
        return RuntimeConfig(
            device=device,
            precision=self.precision if self.precision != "auto" else ("tf32" if gpu else "float32"),
            compile=self.compile if self.compile != "auto" else "none",
            graph=self.graph if self.graph != "auto" else ("true" if gpu else "false"),
        )


@dataclass(frozen=True, kw_only=True)
class Networks:
    """Actor and critic, and how to call them."""

    policy: Policy
    critic: Critic
    encoder: Callable[[Tensor, Tensor], Tensor]
    decoder: Callable[[Tensor], Tensor]
    valuer: Callable[[Tensor], Tensor]
    half: bool = False
    """Encode in bfloat16."""
    pretrained: bool = False
    """Started from weights."""

    def encode(self, features_RNF: Tensor) -> Tensor:
        """(S, R, N, D) aspects in float32."""
        place_ND = self.policy.places(features_RNF.shape[1], features_RNF.device)
        with self._precision(features_RNF.device):
            return self.encoder(features_RNF, place_ND).float()

    def decode(self, aspects_SRND: Tensor) -> Tensor:
        """(R, N, N) logits."""
        return self.decoder(aspects_SRND)

    def value(self, aspects_SRND: Tensor) -> Tensor:
        """(R,) values; the critic does not train the encoder."""
        return self.valuer(aspects_SRND.detach())

    def _precision(self, device: torch.device) -> AbstractContextManager[object]:
        if not self.half:
            return nullcontext()
        # The cache of cast weights would go stale between the replays of a graph.
        return torch.autocast(device.type, dtype=torch.bfloat16, cache_enabled=False)


def make_networks(
    policy: Policy, critic: Critic, runtime: RuntimeConfig, length: int, pretrained: bool = False
) -> Networks:
    """Networks on their device, ready for tours of a length. Sets the process's matrix precision on a GPU."""
    device = torch.device(runtime.device)
    policy, critic = policy.to(device), critic.to(device)
    if device.type == "cuda":
        torch.set_float32_matmul_precision("highest" if runtime.precision == "float32" else "high")
    # Made before any capture or compilation, so that neither sees the table being filled.
    policy.places(length, device)
    everything = runtime.compile == "all"
    return Networks(
        policy=policy,
        critic=critic,
        encoder=_compiled(policy.encoder, runtime.compile != "none"),
        decoder=_compiled(policy.decoder, everything),
        valuer=_compiled(critic, everything),
        half=runtime.precision == "bf16",
        pretrained=pretrained,
    )


def fresh_networks(config: PolicyConfig, seed: int) -> tuple[Policy, Critic]:
    """Random networks that depend on the seed alone, whatever the device."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return Policy(config), make_critic(config)


def _compiled(module: Callable[..., Tensor], wanted: bool) -> Callable[..., Tensor]:
    # Shapes never change within a run, and the graphs around the calls are our own.
    return torch.compile(module, dynamic=False) if wanted else module
