"""The encoder's and the decoder's context kernels: a layer in one program or in three kernels, and their launches."""

from collections.abc import Callable, Iterator
from functools import partial

import torch
from harness import CHECKED, DEVICE, Bench, distance, milliseconds, reference_milliseconds
from torch import Tensor

from dact.kernels.context import context_reference
from dact.kernels.dual_layer import DualLayer, dual_layer_reference
from dact.policy.encoders import DualAspectEncoder, EncoderConfig

DTYPES = {"float16": torch.float16, "bfloat16": torch.bfloat16, "tf32": torch.float32}
FEW = 64
"""Up to so many rows, kernels are timed inside a CUDA graph: launching them takes longer than running them."""
WHOLE_LAUNCHES = {
    20: ((2, 4, 1, None), (2, 4, 2, None), (2, 4, 2, 128), (1, 2, 2, None), (4, 8, 2, None)),
    50: ((1, 4, 1, None), (1, 4, 2, None), (1, 4, 2, 128), (2, 8, 2, None)),
    70: (),
    100: ((1, 8, 2, None), (1, 16, 2, None)),
    120: (),
}
"""Other ways to launch the layer in one program: rows of a program, warps, stages, registers."""
SHORT_LAUNCHES = ((16, 1, 1, 64), (16, 1, 3, 64), (32, 2, 2, 64), (64, 4, 2, 64))
LONG_LAUNCHES = ((64, 4, 3, 64), (64, 4, 2, 128), (64, 4, 3, 128), (128, 8, 2, 128), (128, 4, 2, 64), (16, 1, 2, 64))
"""Other ways to launch the attention of the tiled layer: queries, warps, stages, keys."""

Variant = tuple[str, Callable[[Tensor], Tensor]]


def time_of(work: Callable[[], object], rows: int) -> float:
    """Milliseconds of a call; of few rows, those of the GPU alone."""
    if rows > FEW or DEVICE == "cpu":
        return milliseconds(work)
    work()
    graph, repeats = torch.cuda.CUDAGraph(), 20
    with torch.cuda.graph(graph):
        for _ in range(repeats):
            work()
    return milliseconds(graph.replay) / repeats


def whole_layers(layer: DualLayer, size: int, dtype: torch.dtype, sweep: bool) -> Iterator[Variant]:
    """The layer in one program, as it is launched and in other ways."""
    from dact.kernels.dual_layer.triton_impl import LONGEST, Launch, dual_layer_triton, pack

    if size > LONGEST:
        return
    packed = pack(layer, 4, dtype)
    yield "one program", lambda x: dual_layer_triton(x[0], x[1], packed)
    for group, warps, stages, registers in WHOLE_LAUNCHES[size] if sweep else ():
        launch = Launch(group=group, warps=warps, stages=stages, registers=registers)
        note = f"one program, group {group} warps {warps} stages {stages} registers {registers}"
        yield note, lambda x, launch=launch: dual_layer_triton(x[0], x[1], packed, launch=launch)  # type: ignore[misc]


def tiled_layers(layer: DualLayer, size: int, dtype: torch.dtype, sweep: bool) -> Iterator[Variant]:
    """The layer in three kernels."""
    from dact.kernels.dual_layer.triton_impl import pack
    from dact.kernels.tiled_layer.triton_impl import SHORTEST, WHOLE, Launch, tiled_layer_triton

    if size < SHORTEST:
        return
    packed = pack(layer, 4, dtype)
    yield "tiled", lambda x: tiled_layer_triton(x, packed)
    for queries, warps, stages, keys in (SHORT_LAUNCHES if size <= WHOLE else LONG_LAUNCHES) if sweep else ():
        launch = Launch(queries=queries, warps=warps, stages=stages, keys=keys)
        note = f"tiled, queries {queries} warps {warps} stages {stages} keys {keys}"
        yield note, partial(tiled_layer_triton, packed=packed, launch=launch)


def encoder_layer(bench: Bench, size: int) -> None:
    """One encoder layer."""
    encoder = DualAspectEncoder(2, EncoderConfig(layers=1)).to(DEVICE).requires_grad_(False)
    layer = encoder.weights()[0]
    x = torch.randn(2, bench.rows, size, 64, device=DEVICE)
    expected = dual_layer_reference(x[:, :CHECKED], layer, heads=4)
    took = reference_milliseconds(bench.rows, lambda n: encoder.layers(x[:, :n].contiguous()))
    for name, dtype in DTYPES.items():
        y, sweep = x.to(dtype), bench.sweep and name == "float16"
        for note, run in (*whole_layers(layer, size, dtype, sweep), *tiled_layers(layer, size, dtype, sweep)):
            try:
                error = distance(run(y[:, :CHECKED].contiguous()), expected)
                kernel = time_of(partial(run, y), bench.rows)
            except Exception as fault:
                print(f"layer {size} {note}: {type(fault).__name__} {str(fault)[:300]}", flush=True)
                continue
            bench.add("layer", bench.rows, size, name, error, took, kernel, note)
    tiled_parts(bench, layer, x.half())
    first_layer(bench, size)


def first_layer(bench: Bench, size: int) -> None:
    """A first layer, from features: with what the places decide known beforehand, and without."""
    from dact.kernels.dual_layer import triton_impl as whole
    from dact.kernels.dual_layer.constants import place_constants
    from dact.kernels.launch import power_of_two
    from dact.kernels.tiled_layer import triton_impl as tiled

    layer = DualAspectEncoder(2, EncoderConfig(layers=1)).to(DEVICE).requires_grad_(False).weights()[0]
    packed, is_tiled = whole.pack(layer, 4, torch.float16), size >= tiled.SHORTEST
    features, embed = torch.rand(bench.rows, size, 7, device=DEVICE), torch.randn(7, 64, device=DEVICE)
    place_ND = torch.randn(size, 64, device=DEVICE)
    padded = sum(tiled.pieces(size)) if is_tiled else power_of_two(size)
    constants = place_constants(place_ND, layer, heads=4, padded=padded, dtype=torch.float16)

    def plain(values: Tensor) -> Tensor:
        if is_tiled:
            return tiled.tiled_layer_triton(tiled.enter_triton(values, place_ND, embed, torch.float16), packed)
        return whole.dual_layer_triton(values, place_ND.expand(len(values), -1, -1), packed, embed_FD=embed)

    def short(values: Tensor) -> Tensor:
        if is_tiled:
            return tiled.first_layer_triton(values, constants, packed, embed)
        places = place_ND.expand(len(values), -1, -1)
        return whole.dual_layer_triton(values, places, packed, embed_FD=embed, constants=constants)

    some = features[:CHECKED]
    expected = dual_layer_reference(torch.stack((some @ embed, place_ND.expand(len(some), -1, -1))), layer, heads=4)
    for note, run in (("plain", plain), ("places known", short)) if size <= tiled.WHOLE else (("plain", plain),):
        kernel = time_of(partial(run, features), bench.rows)
        bench.add("first layer", bench.rows, size, "float16", distance(run(some), expected), float("nan"), kernel, note)


def tiled_parts(bench: Bench, layer: DualLayer, x_SBND: Tensor) -> None:
    """Each kernel of the tiled layer by itself."""
    from dact.kernels.dual_layer.triton_impl import pack
    from dact.kernels.tiled_layer import triton_impl as tiled

    rows, size = x_SBND.shape[1:3]
    if size < tiled.SHORTEST:
        return
    packed = pack(layer, 4, torch.float16)
    projected = tiled.project_triton(x_SBND, packed, "tf32")
    merged = tiled.attend_triton(projected, "tf32")
    parts = {
        "project": partial(tiled.project_triton, x_SBND, packed, "tf32"),
        "attend": partial(tiled.attend_triton, projected, "tf32"),
        "finish": partial(tiled.finish_triton, x_SBND, merged, packed, "tf32"),
    }
    for name, work in parts.items():
        bench.add(f"layer: {name}", rows, size, "float16", float("nan"), float("nan"), time_of(work, rows))


def decoder_context(bench: Bench, size: int) -> None:
    """Contexts and queries."""
    from dact.kernels.context.triton_impl import context_triton

    matrices = [torch.randn(2, 64, width, device=DEVICE) / 8 for width in (64, 64, 256)]
    x = torch.randn(2, bench.rows, size, 64, device=DEVICE)
    expected = context_reference(x[:, :CHECKED], *matrices)
    took = reference_milliseconds(bench.rows, lambda n: context_reference(x[:, :n], *matrices))
    for name in ("float16", "tf32"):
        y, cast = x.to(DTYPES[name]), [matrix.to(DTYPES[name]) for matrix in matrices]
        error = distance(context_triton(y[:, :CHECKED], *cast), expected)
        kernel = time_of(partial(context_triton, y, *cast), bench.rows)
        bench.add("context", bench.rows, size, name, error, took, kernel)
