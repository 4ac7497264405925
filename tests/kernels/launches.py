"""Launches of every kernel, as the search and the training make them, to be compiled for a Hopper GPU on any machine.

`python tests/kernels/launches.py GROUP` compiles a group and prints each kernel's name, registers, spilled bytes,
shared bytes and instructions. `--record` instead of a group notes that all of them compile as they are.
"""

import ast
import hashlib
import inspect
import json
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import torch
import triton
from offline import caught_launches

from dact.kernels.context.triton_impl import context_triton
from dact.kernels.dual_layer import DualLayer
from dact.kernels.dual_layer.constants import place_constants
from dact.kernels.dual_layer.training import encode_triton
from dact.kernels.dual_layer.triton_impl import dual_layer_triton, pack
from dact.kernels.fingerprint.triton_impl import fingerprints_triton
from dact.kernels.make_move.triton_impl import make_move_triton
from dact.kernels.move_log_prob.triton_impl import move_log_prob_triton
from dact.kernels.pair_logits import Aggregation
from dact.kernels.pair_logits.triton_impl import backward, forward
from dact.kernels.pick_move import ALL_MOVES, Feasible, Tabu
from dact.kernels.pick_move.opened import open_pairs_triton
from dact.kernels.pick_move.triton_impl import pick_move_triton
from dact.kernels.ppo_loss import NetworkOutputs, Objective, Rewards
from dact.kernels.ppo_loss.triton_impl import ppo_loss_triton
from dact.kernels.records import Instances, SearchState
from dact.kernels.row_draws.triton_impl import row_draws_triton
from dact.kernels.tiled_layer.triton_impl import enter_triton, first_layer_triton, pieces, tiled_layer_triton
from dact.kernels.tour_view import CAPACITY, COORDINATES
from dact.kernels.tour_view.triton_impl import tour_view_triton
from dact.kernels.value_layer.triton_impl import attend, attend_grad, norm, norm_grad, relu_grad_
from dact.operators import two_opt
from dact.policy.encoders import DualAspectEncoder, EncoderConfig

SOURCE, PACKAGE = Path(__file__).parents[2] / "src", "dact.kernels"
RECORD = Path(__file__).with_name("compiled.json")
SHARED_BYTES = 227 * 1024
"""Of a multiprocessor."""

empty, long = torch.zeros, partial(torch.zeros, dtype=torch.long)
network = Aggregation(empty(32, 8), empty(32), empty(32, 32), empty(32), empty(1, 32), empty(1))
LAYER = ((2, 64, 256), (2, 128, 64), (2, 64, 64), (2, 1, 64), (2, 64, 64), (2, 1, 64))
plain = DualLayer(*(empty(size) for size in LAYER))
SEARCHED = ((1, 20, torch.bfloat16), (16, 100, torch.float16))
"""Rows, positions, precision: a short tour and a long one."""
MANY = ((30, torch.bfloat16), (70, torch.float16), (120, torch.float16), (100, torch.float32))
"""Positions and precision of ten thousand rows."""


def launch_layers() -> None:
    """First and later layers, one program a row; then the context."""
    for rows, size, half in SEARCHED:
        layer, place = pack(plain, 4, half), empty(rows, size, 64)
        dual_layer_triton(empty(rows, size, 7), place, layer, embed_FD=empty(7, 64))
        dual_layer_triton(place.to(half), place.to(half), layer)
        context_triton(empty(2, rows, size, 64, dtype=half), *(empty(2, 64, n, dtype=half) for n in (64, 64, 256)))
    half, place = pack(plain, 4, torch.float16), empty(50, 64)
    constants = place_constants(place, plain, heads=4, padded=64, dtype=torch.float16)
    places = place.expand(16, -1, -1)
    dual_layer_triton(empty(16, 50, 7), places, half, embed_FD=empty(7, 64), constants=constants)


def launch_tiled_layers() -> None:
    """Layers of rows that are long for one program; float32 needs the most shared memory."""
    place, embed = empty(1056, 64), empty(7, 64)
    for size, dtype in ((70, torch.float16), (248, torch.bfloat16), (100, torch.float32), (1056, torch.float32)):
        x = enter_triton(empty(16, size, 7), place[:size], embed, dtype)
        tiled_layer_triton(x, pack(plain, 4, dtype), precision="tf32x3")
    constants = place_constants(place[:100], plain, heads=4, padded=sum(pieces(100)), dtype=torch.float16)
    first_layer_triton(empty(16, 100, 7), constants, pack(plain, 4, torch.float16), embed)


def launch_pair_logits() -> None:
    """Values and gradients."""
    heads = empty(2, 8, 100, 64, dtype=torch.float16)
    forward(heads, heads, network, torch.float16, "tf32")
    backward(empty(2, 100, 100), heads, heads, network, torch.float16, "tf32")


def loads(rows: int, size: int, make: Callable[..., torch.Tensor] = empty) -> Feasible:
    """What 2-opt moves of so many tours are judged by."""
    return Feasible(make(rows, size, 6, dtype=torch.int32), make(rows, dtype=torch.int32), depots=10)


def instances(rows: int, size: int, make: Callable[..., torch.Tensor] = empty) -> Instances:
    """With depots and demands."""
    load = {"demand_BN": make(rows, size, dtype=torch.int32), "capacity_B": make(rows, dtype=torch.int32)}
    return Instances(coordinates_BN2=make(rows, size, 2), scale_B=make(rows), depots=10, **load)


def launch_pick_move() -> None:
    """Of few rows and of many, with a capacity and without, idle moves closed or not, recent tours kept or not, in half
    precision and float32."""
    many = [(10_000, size, dtype) for size, dtype in MANY]
    for rows, size, dtype in (*SEARCHED, *many):
        make = partial(torch.empty, device="meta") if rows > 16 else empty
        pairs = make(2, rows, size, 256, dtype=dtype), make(2, rows, size, 64, dtype=dtype)
        settings = {"tour_BN": make(rows, size, dtype=torch.long), "last_move_B2": make(rows, 2, dtype=torch.long)}
        settings["draw_2B"] = make(2, rows, dtype=torch.float64)
        routes = loads(rows, size, make)
        for feasible in (ALL_MOVES, routes, routes._replace(idle=False))[: 3 if rows > 16 else 1]:
            pick_move_triton(*pairs, network, clip=6.0, **settings, feasible=feasible)
        if rows > 16:
            recent = make(rows, 64, dtype=torch.long), make(rows, dtype=torch.long)
            tabu = Tabu(settings["tour_BN"], *recent, two_opt, 10)
            for log_prob in (None, make(rows)):
                given = {"feasible": routes, "tabu": tabu, "log_prob_B": log_prob}
                pick_move_triton(*pairs, network, clip=6.0, **settings, **given)


def launch_open_pairs() -> None:
    """Which pairs are open, with a capacity and without, idle moves closed or not."""
    for size in (20, 100, 149):
        for feasible in (ALL_MOVES, loads(2, size), loads(2, size)._replace(idle=False)):
            open_pairs_triton(long(2, size), long(2, 2), feasible)


def launch_make_move() -> None:
    """2-opt with distances from coordinates."""
    for rows, size, _ in SEARCHED:
        tour, move, stall, cost = long(rows, size), long(rows, 2), long(rows), empty(rows)
        best = {"incumbent_BN": tour, "incumbent_cost_B": cost, "stall_B": stall, "stream_B": stall}
        state = SearchState(tour_BN=tour, cost_B=cost, last_move_B2=move, **best)
        make_move_triton(state, move, instances(rows, size), two_opt, 250)


def launch_views() -> None:
    """Draws, and what a policy sees of tours with a capacity and without."""
    make, rows = partial(torch.empty, device="meta"), 10_000
    row_draws_triton(make(rows, dtype=torch.long))
    for size, _ in MANY:
        fingerprints_triton(make(rows, size, dtype=torch.long), 10)
        for view in (CAPACITY, COORDINATES):
            tour_view_triton(make(rows, size, dtype=torch.long), instances(rows, size, make), view)


def launch_training_layers() -> None:
    """The encoder forward and backward."""
    encoder = DualAspectEncoder(7, EncoderConfig(layers=2))
    for size in (20, 50, 100):
        inputs = empty(264, size, 7), empty(size, 64), encoder.embed.weight, encoder.weights()
        encode_triton(*inputs, 4, torch.float16).sum().backward()


def launch_move_log_prob() -> None:
    """Log-probabilities and their gradients."""
    for dtype in (torch.float16, torch.float32):
        shapes = ((2, 3, 100, 256), (2, 3, 100, 64), *(each.shape for each in network))
        query, key, *weights = own = [empty(shape, requires_grad=True) for shape in shapes]
        settings = {"clip": 6.0, "open_BNN": empty(3, 100, 100, dtype=torch.bool), "move_B2": long(3, 2)}
        settings |= {"dtype": dtype, "precision": "tf32"}
        log_prob, _ = move_log_prob_triton(query, key, Aggregation(*weights), **settings)
        torch.autograd.grad(log_prob.sum(), own)


def launch_single_aspect() -> None:
    """Picking a move and its log-probability for the single-aspect policy: half the heads, twice as wide."""
    own = Aggregation(empty(32, 4), *network[1:])
    for size in (50, 100):
        for dtype in (torch.float16, torch.float32):
            make, rows = partial(torch.empty, device="meta"), 1000
            pairs = make(1, rows, size, 512, dtype=dtype), make(1, rows, size, 128, dtype=dtype)
            settings = {"tour_BN": make(rows, size, dtype=torch.long), "last_move_B2": make(rows, 2, dtype=torch.long)}
            settings["draw_2B"] = make(2, rows, dtype=torch.float64)
            pick_move_triton(*pairs, own, clip=6.0, **settings, feasible=ALL_MOVES)
        shapes = ((1, 3, size, 512), (1, 3, size, 128), *(each.shape for each in own))
        query, key, *weights = learnt = [empty(shape, requires_grad=True) for shape in shapes]
        settings = {"clip": 6.0, "open_BNN": empty(3, size, size, dtype=torch.bool), "move_B2": long(3, 2)}
        settings |= {"dtype": torch.float16, "precision": "tf32"}
        log_prob, _ = move_log_prob_triton(query, key, Aggregation(*weights), **settings)
        torch.autograd.grad(log_prob.sum(), learnt)


def launch_critic() -> None:
    """The critic's layers with the paper's widths, and their gradients."""
    for size, dtype in ((20, torch.float16), (100, torch.float16), (100, torch.float32)):
        x, bias, rate, top = empty(2, size, 128, dtype=dtype), empty(2, 256), empty(2), empty(())
        packed = empty(2, size, 432, dtype=dtype)
        attend(packed, 6, 21, "tf32")
        attend_grad(empty(2, size, 144, dtype=dtype), packed, 6, 21, "tf32")
        for pool in (False, True):
            norm(x, x, pool=pool)
            norm_grad(empty(2, 128) if pool else x, x, rate, top, bias, pool=pool)
        relu_grad_(x, x, bias)


def launch_loss() -> None:
    """The loss of a segment."""
    now = NetworkOutputs(*[empty(4, 600)] * 3)
    ppo_loss_triton(now, now, Rewards(empty(4, 600), empty(600), torch.ones(600)), Objective(0.1, 0.999, True, 0.01))


@dataclass(frozen=True)
class Group:
    """Launches that are compiled together, and what the assembler may say of them."""

    launch: Callable[[], None]
    count: int
    """Of kernels that are launched."""
    spilled: Mapping[str, int] = field(default_factory=dict)
    """Bytes that a kernel of this name may spill; none where it is not named."""
    programs: Mapping[str, int] = field(default_factory=dict)
    """Programs of this kernel that must fit one multiprocessor's shared memory; one where it is not named."""

    def digest(self) -> str:
        """Of Triton's version, the launches and all kernels they may reach, less comments and docstrings."""
        used = (self.launch.__globals__[name] for name in self.launch.__code__.co_names if name in globals())
        modules = {each.__module__ for each in used if getattr(each, "__module__", "").startswith(PACKAGE)}
        sources = sorted(source for source in reached(modules).values() if "triton" in source)
        text = "\n".join((triton.__version__, code(inspect.getsource(self.launch)), *sources))
        return hashlib.sha256(text.encode()).hexdigest()[:16]


def reached(modules: Iterable[str]) -> dict[str, str]:
    """The code of these modules and of all others of the package that they import."""
    found: dict[str, str] = {}
    open_ = list(modules)
    while open_:
        name = open_.pop()
        path = SOURCE / name.replace(".", "/")
        path = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
        if name in found or not path.is_file():
            continue
        tree = ast.parse(path.read_text())
        imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module]
        open_ += [node.module for node in imports if node.module.startswith(PACKAGE)]
        found[name] = code(path.read_text())
    return found


def code(source: str) -> str:
    """Without comments and docstrings."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list):
            node.body = [
                line for line in body if not (isinstance(line, ast.Expr) and isinstance(line.value, ast.Constant))
            ]
    return ast.unparse(tree)


# Spills are before the loops, or cost less than fewer registers to a program would.
GROUPS = {
    "layers": Group(launch_layers, 7, {"_layer_kernel": 160}),
    "tiled layers": Group(
        launch_tiled_layers, 21, {"finish_kernel": 64, "finish_long_kernel": 320, "attend_kernel": 16}
    ),
    "pair logits": Group(launch_pair_logits, 2, {"_backward_kernel": 256}),
    "picking": Group(launch_pick_move, 48, {"_rows_kernel": 16}),
    "open pairs": Group(launch_open_pairs, 12),
    "moving": Group(launch_make_move, 2),
    "views": Group(launch_views, 13),
    "training layers": Group(
        launch_training_layers, 36, dict.fromkeys(("_attention_kernel", "_feed_forward_kernel", "_layer_kernel"), 400)
    ),
    "log-probabilities": Group(launch_move_log_prob, 10, {"_pairs_kernel": 200}, {"_pairs_kernel": 2}),
    "single aspect": Group(
        launch_single_aspect, 18, {"_rows_kernel": 112, "_pairs_kernel": 136, "_operands_kernel": 472}
    ),
    "critic": Group(launch_critic, 21),
    "loss": Group(launch_loss, 1),
}


def changed() -> list[str]:
    """Groups that are not as they were when they last compiled."""
    recorded = json.loads(RECORD.read_text())
    return [name for name, group in GROUPS.items() if recorded.get(name) != group.digest()]


if __name__ == "__main__":
    if sys.argv[1] == "--record":
        RECORD.write_text(json.dumps({name: group.digest() for name, group in GROUPS.items()}, indent=2) + "\n")
        sys.exit()
    with caught_launches() as reports:
        GROUPS[sys.argv[1]].launch()
    for each in reports:
        print(each.name, each.registers, each.spilled_bytes, each.shared_bytes, each.instructions)
