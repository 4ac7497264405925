"""Random parameters under the authors' names and in their shapes."""

import torch
from torch import Tensor

DIM, HEADS, WIDTH, LAYERS = 64, 4, 16, 3


def _attention() -> dict[str, tuple[int, ...]]:
    shapes: dict[str, tuple[int, ...]] = {}
    for aspect in ("node", "pos"):
        shapes[f"W_query_{aspect}"] = shapes[f"W_key_{aspect}"] = (HEADS, DIM, WIDTH)
        shapes[f"W_val_{aspect}"] = (2 * HEADS, DIM, WIDTH)
        shapes[f"W_out_{aspect}"] = (HEADS, 2 * WIDTH, DIM)
    return shapes


def _linear(name: str, out: int, into: int) -> dict[str, tuple[int, ...]]:
    return {f"{name}.weight": (out, into), f"{name}.bias": (out,)}


def actor(features: int) -> dict[str, Tensor]:
    """A state dict as their actor has it."""
    shapes: dict[str, tuple[int, ...]] = {"embedder.embedder.weight": (DIM, features)}
    for layer in range(LAYERS):
        shapes |= {f"encoder.{layer}.MHA_sublayer.MHA.{name}": shape for name, shape in _attention().items()}
        for part in ("FF1.0", "FF1.2", "FF2.0", "FF2.2"):
            shapes |= _linear(f"encoder.{layer}.FFandNorm_sublayer.{part}", DIM, DIM)
    for aspect in ("node", "pos"):
        shapes |= {f"decoder.compater_{aspect}.W_{kind}": (HEADS, DIM, DIM) for kind in ("query", "key")}
        shapes |= {f"decoder.project_{kind}_{aspect}.weight": (DIM, DIM) for kind in ("node", "graph")}
    for number, (out, into) in enumerate(((32, 8), (32, 32), (1, 32)), start=1):
        shapes |= _linear(f"decoder.value_head.fc{number}", out, into)
    return _random(shapes, seed=features)


def critic() -> dict[str, Tensor]:
    """A state dict as their critic has it."""
    shapes: dict[str, tuple[int, ...]] = {
        f"encoder.0.0.module.W_{kind}": (6, 128, 21) for kind in ("query", "key", "val")
    }
    shapes |= {"encoder.0.0.module.W_out": (6, 21, 128)}
    shapes |= _linear("encoder.0.2.module.0", 128, 128) | _linear("encoder.0.2.module.2", 128, 128)
    shapes |= {f"value_head.project_{kind}.weight": (128, 128) for kind in ("node", "graph")}
    for number, (out, into) in enumerate(((128, 128), (64, 128), (1, 64)), start=1):
        shapes |= _linear(f"value_head.MLP.fc{number}", out, into)
    return _random(shapes, seed=0)


def _random(shapes: dict[str, tuple[int, ...]], seed: int) -> dict[str, Tensor]:
    generator = torch.Generator().manual_seed(seed)
    return {name: torch.randn(shape, generator=generator) / 8 for name, shape in shapes.items()}
