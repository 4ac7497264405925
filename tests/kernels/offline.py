"""Compile kernels for a Hopper GPU on a machine without one: launches are caught and only compiled.

Run as `python tests/kernels/offline.py`; needs Triton with its assembler, not in interpreter mode.
"""

import re
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import torch
import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
from triton.runtime.jit import JITFunction

OPTIONS = ("num_warps", "num_stages", "maxnreg")
NAMES = {
    torch.float16: "*fp16",
    torch.bfloat16: "*bf16",
    torch.float32: "*fp32",
    torch.float64: "*fp64",
    torch.int32: "*i32",
    torch.int64: "*i64",
    torch.bool: "*i1",
    torch.int8: "*i8",
}


@dataclass(frozen=True)
class Report:
    """What the assembler says of a kernel."""

    name: str
    registers: int
    spilled_bytes: int
    shared_bytes: int
    instructions: int
    asm: Any


def compile_launch(kernel: JITFunction, args: tuple[Any, ...], options: dict[str, Any]) -> Report:
    """The kernel as this launch would compile it for compute capability 9.0."""
    settings = {name: options.pop(name) for name in OPTIONS if name in options}
    bound = dict(zip(kernel.arg_names, args, strict=False)) | options
    signature, constants, attributes = {}, {}, {}
    for place, parameter in enumerate(kernel.params):
        value = bound[parameter.name]
        if parameter.is_constexpr or value is None or (isinstance(value, int) and value in (0, 1) and value):
            signature[parameter.name], constants[parameter.name] = "constexpr", value
        elif isinstance(value, torch.Tensor):
            signature[parameter.name] = NAMES[value.dtype]
            attributes[(place,)] = [["tt.divisibility", 16]]
        else:
            signature[parameter.name] = "fp32" if isinstance(value, float) else "i32"
            if isinstance(value, int) and value % 16 == 0:
                attributes[(place,)] = [["tt.divisibility", 16]]
    source = ASTSource(kernel, signature, constants, attributes)
    compiled = triton.compile(source, target=GPUTarget("cuda", 90, 32), options=settings)
    return _report(kernel.__name__, compiled)


def _report(name: str, compiled: Any) -> Report:
    tools = Path(triton.__file__).parent / "backends" / "nvidia" / "bin"
    with tempfile.TemporaryDirectory() as folder:
        cubin = Path(folder) / "kernel.cubin"
        cubin.write_bytes(compiled.asm["cubin"])
        usage = subprocess.run([tools / "cuobjdump", "-res-usage", cubin], capture_output=True, text=True).stdout
        sass = subprocess.run([tools / "cuobjdump", "-sass", cubin], capture_output=True, text=True).stdout
    registers, stack, local = (int(re.search(rf"{word}:(\d+)", usage)[1]) for word in ("REG", "STACK", "LOCAL"))
    instructions = len(re.findall(r"^\s+/\*[0-9a-f]{4,5}\*/", sass, re.MULTILINE))
    compiled.asm["sass"] = sass
    return Report(name, registers, stack + local, compiled.metadata.shared, instructions, compiled.asm)


@contextmanager
def caught_launches() -> Iterator[list[Report]]:
    """Inside, a launch compiles its kernel and adds to the list instead of running."""
    reports: list[Report] = []
    original = JITFunction.run

    def caught(self: JITFunction, *args: Any, grid: Any, warmup: bool, **options: Any) -> None:
        reports.append(compile_launch(self, args, dict(options)))

    JITFunction.run = caught
    try:
        yield reports
    finally:
        JITFunction.run = original


def compile_everything() -> list[Report]:
    """Every kernel as the search and the training launch it, in both half precisions, for short and long tours."""
    from dact.kernels.context.triton_impl import context_triton
    from dact.kernels.dual_layer import DualLayer
    from dact.kernels.dual_layer.triton_impl import dual_layer_triton, pack
    from dact.kernels.make_move import Costs, Search
    from dact.kernels.make_move.triton_impl import make_move_triton
    from dact.kernels.pair_logits import Aggregation
    from dact.kernels.pair_logits.triton_impl import backward, forward
    from dact.kernels.pick_move.triton_impl import pick_move_triton

    empty = torch.zeros
    network = Aggregation(empty(32, 8), empty(32), empty(32, 32), empty(32), empty(1, 32), empty(1))
    sizes = ((2, 64, 256), (2, 128, 64), (2, 64, 64), (2, 1, 64), (2, 64, 64), (2, 1, 64))
    with caught_launches() as reports:
        for rows, size, half in ((1, 20, torch.bfloat16), (16, 100, torch.float16)):
            layer = pack(DualLayer(*(empty(size) for size in sizes)), 4, half)
            tour, move = empty(rows, size, dtype=torch.long), empty(rows, 2, dtype=torch.long)
            place = empty(rows, size, 64)
            dual_layer_triton(empty(rows, size, 7), place, layer, embed_FD=empty(7, 64))
            dual_layer_triton(place.to(half), place.to(half), layer)
            context_triton(empty(2, rows, size, 64, dtype=half), *(empty(2, 64, n, dtype=half) for n in (64, 64, 256)))
            pairs = empty(2, rows, size, 256, dtype=half), empty(2, rows, size, 64, dtype=half)
            draw = empty(2, rows, dtype=torch.float64)
            pick_move_triton(*pairs, network, clip=6.0, tour_BN=tour, last_move_B2=move, draw_2B=draw)
            stall = empty(rows, dtype=torch.long)
            search = Search(tour, empty(rows), tour, empty(rows), stall, move, stall)
            make_move_triton(search, move, Costs(empty(rows, size, 2), empty(rows)), "two_opt", 250)
        heads = empty(2, 8, size, 64, dtype=half)
        forward(heads, heads, network, half, "tf32")
        backward(empty(2, size, size), heads, heads, network, half, "tf32")
        launch_layers()
        launch_moves()
    return reports


def launch_moves() -> None:
    """Drawing, looking at tours and picking moves of many rows: with a capacity and without, and in float32."""
    from dact.kernels.pair_logits import Aggregation
    from dact.kernels.pick_move import Capacity
    from dact.kernels.pick_move.triton_impl import pick_move_triton
    from dact.kernels.row_draws.triton_impl import row_draws_triton
    from dact.kernels.tour_view import CAPACITY, COORDINATES, Nodes
    from dact.kernels.tour_view.triton_impl import tour_view_triton

    empty, rows = partial(torch.empty, device="meta"), 10_000
    network = Aggregation(empty(32, 8), empty(32), empty(32, 32), empty(32), empty(1, 32), empty(1))
    row_draws_triton(empty(rows, dtype=torch.long))
    room, move = empty(rows, dtype=torch.int32), empty(rows, 2, dtype=torch.long)
    for size, dtype in ((30, torch.bfloat16), (70, torch.float16), (120, torch.float16), (100, torch.float32)):
        tour = empty(rows, size, dtype=torch.long)
        nodes = Nodes(empty(rows, size, 2), empty(rows, size, dtype=torch.int32), room, 10)
        tour_view_triton(tour, nodes, CAPACITY)
        tour_view_triton(tour, nodes, COORDINATES)
        pairs = empty(2, rows, size, 256, dtype=dtype), empty(2, rows, size, 64, dtype=dtype)
        draw = empty(2, rows, dtype=torch.float64)
        for feasible in (None, Capacity(empty(rows, size, 6, dtype=torch.int32), room)):
            settings = {"tour_BN": tour, "last_move_B2": move, "draw_2B": draw, "feasible": feasible}
            pick_move_triton(*pairs, network, clip=6.0, **settings)


def launch_layers() -> None:
    """First layers, and layers of rows that are long for one program; float32 needs the most shared memory."""
    from dact.kernels.dual_layer import DualLayer
    from dact.kernels.dual_layer.constants import place_constants
    from dact.kernels.dual_layer.triton_impl import dual_layer_triton, pack
    from dact.kernels.tiled_layer.triton_impl import enter_triton, first_layer_triton, pieces, tiled_layer_triton

    sizes = ((2, 64, 256), (2, 128, 64), (2, 64, 64), (2, 1, 64), (2, 64, 64), (2, 1, 64))
    plain = DualLayer(*(torch.zeros(each) for each in sizes))
    place, embed = torch.zeros(1056, 64), torch.zeros(7, 64)
    for size, dtype in ((70, torch.float16), (248, torch.bfloat16), (100, torch.float32), (1056, torch.float32)):
        x = enter_triton(torch.zeros(16, size, 7), place[:size], embed, dtype)
        tiled_layer_triton(x, pack(plain, 4, dtype), precision="tf32x3")
    half = pack(plain, 4, torch.float16)
    constants = place_constants(place[:100], plain, heads=4, padded=sum(pieces(100)), dtype=torch.float16)
    first_layer_triton(torch.zeros(16, 100, 7), constants, half, embed)
    constants = place_constants(place[:50], plain, heads=4, padded=64, dtype=torch.float16)
    features, places = torch.zeros(16, 50, 7), place[:50].expand(16, -1, -1)
    dual_layer_triton(features, places, half, embed_FD=embed, constants=constants)


if __name__ == "__main__":
    for each in compile_everything():
        print(each.name, each.registers, each.spilled_bytes, each.shared_bytes, each.instructions)
