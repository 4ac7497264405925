"""Drawing and picking moves: the kernels against plain PyTorch, and the draws against the distribution."""

from functools import partial

import pytest
import torch
from torch import Tensor

from begun import begun, open_moves
from dact.kernels.pair_logits import Aggregation, pair_logits_reference
from dact.kernels.pick_move import ALL_MOVES, Feasible, fold_heads, open_pairs_reference, pick_move_reference
from dact.kernels.row_draws import STEP, row_draws
from dact.kernels.tour_view import CAPACITY, tour_view_reference
from dact.operators import OPERATORS
from dact.policy import PairDistribution, Policy, PolicyConfig
from dact.problems import PROBLEMS, Batch, capacity

pytest.importorskip("triton")
CLIP = 6.0
NEEDS_GPU = (pytest.mark.gpu, pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device"))
LONG = [pytest.param(size, marks=NEEDS_GPU) for size in (1023, 1025, 1100)]
"""Too slow under the interpreter."""


def network(device: str) -> Aggregation:
    """Weights whose logits spread over the whole range of the clip."""
    torch.manual_seed(1)
    shapes = ((32, 8), (32,), (32, 32), (32,), (1, 32), (1,))
    return Aggregation(*(torch.randn(shape, device=device) * shape[-1] ** -0.5 for shape in shapes))


def queries_and_keys(rows: int, size: int, device: str) -> tuple[Tensor, Tensor]:
    """(2, B, N, 4 * 64), and keys that the four heads share."""
    torch.manual_seed(size)
    query = torch.randn(2, rows, size, 256, device=device) / 8
    return query, torch.randn(2, rows, size, 64, device=device)


def moves_so_far(rows: int, size: int, device: str) -> tuple[Tensor, Tensor]:
    """Random tours and last moves; the first row has none yet."""
    tour = torch.stack([torch.randperm(size, device=device) for _ in range(rows)])
    last = torch.stack([torch.randperm(size, device=device)[:2] for _ in range(rows)])
    last[0] = -1
    return tour, last


def loads_of(batch: Batch, tour_BN: Tensor, idle: bool = True) -> Feasible:
    """What the kernels are told of a CVRP tour."""
    return tour_view_reference(tour_BN, batch, CAPACITY, idle)[1]


@pytest.mark.parametrize("size", [5, 16, 17, 31, 33, 63, 65, 127, 129, *LONG])
@pytest.mark.parametrize(("dtype", "agreement"), [(torch.float32, 1.0), (torch.float16, 0.6)])
@pytest.mark.usefixtures("poisoned")
def test_the_same_draws_give_the_same_moves(size: int, dtype: torch.dtype, agreement: float, device: str) -> None:
    """In float32 every move is the reference's; in half precision most are, as rounding shifts the thresholds."""
    from dact.kernels.pick_move.triton_impl import pick_move_triton

    rows = 1 if 60 < size < 1000 else 3 if 17 < size < 60 else 6
    query, key = queries_and_keys(rows, size, device)
    tour, last = moves_so_far(rows, size, device)
    settings = {"clip": CLIP, "tour_BN": tour, "last_move_B2": last}
    settings["draw_2B"] = torch.rand(2, rows, device=device, dtype=torch.float64)
    known, drawn = torch.zeros(2, rows, device=device)
    expected = pick_move_reference(query, key, network(device), **settings, log_prob_B=known)
    settings |= {"log_prob_B": drawn, "precision": "tf32x3"}
    actual = pick_move_triton(query.to(dtype), key.to(dtype), network(device), **settings)
    same = (actual == expected).all(1)
    assert same.double().mean() >= agreement
    torch.testing.assert_close(drawn[same], known[same], rtol=0, atol=1e-5 if dtype == torch.float32 else 2e-2)
    assert open_pairs_reference(tour, last, ALL_MOVES)[torch.arange(rows), actual[:, 0], actual[:, 1]].all()


@pytest.mark.parametrize("greedy", [False, True])
@pytest.mark.parametrize(("size", "warps", "seconds", "firsts"), [(33, 1, 16, 8), (31, 2, 16, 4), (17, 1, 32, 8)])
@pytest.mark.usefixtures("poisoned")
def test_other_launches(
    size: int, warps: int, seconds: int, firsts: int, greedy: bool, device: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Blocks of other sizes, and programs that take all first positions in turn, pick the same moves."""
    from dact.kernels.pick_move import triton_impl

    monkeypatch.setattr(triton_impl, "PROGRAMS", 1)
    launch = triton_impl.Launch(warps=warps, seconds=seconds, firsts=firsts)
    query, key = queries_and_keys(3, size, device)
    tour, last = moves_so_far(3, size, device)
    draw = None if greedy else torch.rand(2, 3, device=device, dtype=torch.float64)
    settings = {"clip": CLIP, "tour_BN": tour, "last_move_B2": last, "draw_2B": draw}
    expected = pick_move_reference(query, key, network(device), **settings)
    actual = triton_impl.pick_move_triton(
        query, key, network(device), precision="tf32x3", launch=launch, **settings
    )  # fmt: skip
    assert torch.equal(actual, expected)


@pytest.mark.parametrize(("aspects", "heads", "width"), [(1, 4, 128), (1, 16, 16), (2, 8, 32)])
def test_other_decoders(aspects: int, heads: int, width: int, device: str) -> None:
    """One aspect or two, with few heads or many."""
    from dact.kernels.pick_move.triton_impl import pick_move_triton

    torch.manual_seed(3)
    shapes = ((32, aspects * heads), (32,), (32, 32), (32,), (1, 32), (1,))
    weights = Aggregation(*(torch.randn(shape, device=device) * shape[-1] ** -0.5 for shape in shapes))
    query = torch.randn(aspects, 2, 9, heads * width, device=device) / width**0.5
    key = torch.randn(aspects, 2, 9, width, device=device)
    tour, last = moves_so_far(2, 9, device)
    draw = torch.rand(2, 2, device=device, dtype=torch.float64)
    settings = {"clip": CLIP, "tour_BN": tour, "last_move_B2": last, "draw_2B": draw}
    expected = pick_move_reference(query, key, weights, **settings)
    assert torch.equal(pick_move_triton(query, key, weights, precision="tf32x3", **settings), expected)


@pytest.mark.parametrize("size", [17, 33])
@pytest.mark.usefixtures("poisoned")
def test_greedy(size: int, device: str) -> None:
    """Without draws the most probable open pair is taken."""
    from dact.kernels.pick_move.triton_impl import pick_move_triton

    query, key = queries_and_keys(4, size, device)
    tour, last = moves_so_far(4, size, device)
    last[1] = tour[1][pick_move_reference(
        query, key, network(device), clip=CLIP, tour_BN=tour, last_move_B2=last, draw_2B=None
    )[1]]  # fmt: skip
    settings = {"clip": CLIP, "tour_BN": tour, "last_move_B2": last, "draw_2B": None}
    expected = pick_move_reference(query, key, network(device), **settings)
    assert torch.equal(pick_move_triton(query, key, network(device), precision="tf32x3", **settings), expected)


@pytest.fixture(scope="module")
def routed() -> tuple[Batch, Tensor]:
    """CVRP tours in which many moves would overload a vehicle."""
    generator = torch.Generator().manual_seed(5)
    problem = PROBLEMS["cvrp"]
    batch = problem.sample(14, 4, generator)
    return batch, begun("cvrp", batch).tour_BN


@pytest.mark.parametrize("kind", ["every", "loads", "mask"])
@pytest.mark.parametrize("idle", [True, False])
@pytest.mark.usefixtures("poisoned")
def test_feasible_moves(kind: str, idle: bool, routed: tuple[Batch, Tensor], device: str) -> None:
    """Draws and greedy picks are the reference's by loads, by a mask or without either; idle moves open or closed."""
    from dact.kernels.pick_move.triton_impl import pick_move_triton

    batch, tour = routed[0].to(device), routed[1].to(device)
    feasible = loads_of(batch, tour, idle)
    if kind != "loads":
        mask = capacity.two_opt_allowed(batch, tour) if kind == "mask" else None
        feasible = Feasible(mask_BNN=mask, idle=idle, depots=batch.depots)
    query, key = queries_and_keys(4, batch.length, device)
    _, last = moves_so_far(4, batch.length, device)
    for draw in (None, torch.rand(2, 4, device=device, dtype=torch.float64)):
        settings = {"clip": CLIP, "tour_BN": tour, "last_move_B2": last, "draw_2B": draw, "feasible": feasible}
        expected = pick_move_reference(query, key, network(device), **settings)
        actual = pick_move_triton(query, key, network(device), precision="tf32x3", **settings)
        assert torch.equal(actual, expected)


def test_every_pair_is_drawn_as_often_as_it_should(device: str) -> None:
    """Draws on a grid of the unit square visit each pair in proportion to its probability, forbidden ones never."""
    from dact.kernels.pick_move.triton_impl import pick_move_triton

    size, side = 5, 6
    query, key = (x.expand(-1, side * side, -1, -1) for x in queries_and_keys(1, size, device))
    tour = torch.arange(size, device=device).expand(side * side, -1)
    last = torch.tensor([[1, 3]], device=device).expand(side * side, -1)
    grid = (torch.arange(side, device=device, dtype=torch.float64) + 0.5) / side
    settings = {"clip": CLIP, "tour_BN": tour, "last_move_B2": last, "draw_2B": torch.cartesian_prod(grid, grid).t()}
    move = pick_move_triton(query, key, network(device), precision="tf32x3", **settings)
    counts = torch.bincount(move[:, 0] * size + move[:, 1], minlength=size * size).view(size, size)
    assert counts.sum() == side * side
    assert (counts[~open_pairs_reference(tour[:1], last[:1], ALL_MOVES)[0]] == 0).all()
    assert torch.equal(move, pick_move_reference(query, key, network(device), **settings))


def test_reference_is_the_policys_distribution(generator: torch.Generator) -> None:
    """From a policy's context, folded heads give the decoder's logits and the distribution's moves."""
    torch.manual_seed(0)
    policy, problem = Policy(PolicyConfig(features=2)), PROBLEMS["tsp"]
    batch = problem.sample(11, 64, generator)
    state = begun("tsp", batch)
    draw = row_draws(state.stream_B)
    decoder = policy.decoder
    with torch.no_grad():
        aspects = policy.encode(problem.node_features(batch, state.tour_BN))
        moves = PairDistribution(
            decoder(aspects), open_moves(problem, batch, state.tour_BN, state.last_move_B2, OPERATORS["two_opt"])
        )
        expected = moves.sample(draw)
        pooled = aspects.amax(2, keepdim=True)
        context = aspects @ decoder.local_SDD.unsqueeze(1) + pooled @ decoder.whole_SDD.unsqueeze(1)
        folded = fold_heads(decoder.query_SDE / 8, decoder.key_SDE, 4)
        layers = (decoder.first, decoder.second, decoder.third)
        aggregation = Aggregation(*(x for layer in layers for x in (layer.weight, layer.bias)))
        actual = pick_move_reference(
            context @ folded.unsqueeze(1), context, aggregation, clip=decoder.config.clip, tour_BN=state.tour_BN,
            last_move_B2=state.last_move_B2, draw_2B=draw,
        )  # fmt: skip
    assert torch.equal(actual, expected)


def chi_squared(move_R2: Tensor, probability_NN: Tensor) -> tuple[float, int]:
    """The distance of the frequencies of pairs from their probabilities, and the number of pairs told apart.

    Pairs that should come less than five times are counted as one.
    """
    size = len(probability_NN)
    counts = torch.bincount(move_R2[:, 0] * size + move_R2[:, 1], minlength=size * size).cpu().double()
    expected = len(move_R2) * probability_NN.flatten().cpu().double()
    often = expected >= 5
    counts, expected = (torch.cat((x[often], x[~often].sum()[None])) for x in (counts, expected))
    expected = expected.clamp(min=1e-9)
    return float(((counts - expected) ** 2 / expected).sum()), int(often.sum())


@pytest.mark.parametrize("who", ["reference", "kernels"])
def test_frequencies(who: str, device: str) -> None:
    """Draws come out as often as the softmax says, by a chi-squared test, and forbidden pairs never."""
    from dact.kernels.pick_move.triton_impl import pick_move_triton

    pick, count, size = pick_move_reference, 20_000, 4
    if who == "kernels":
        pick, count = partial(pick_move_triton, precision="tf32x3"), 1_000_000 if device == "cuda" else 60
    one = queries_and_keys(1, size, device)
    query, key = (x.expand(-1, count, -1, -1) for x in one)
    tour = torch.arange(size, device=device).expand(count, -1)
    last = torch.tensor([[1, 3]], device=device).expand(count, -1)
    draw = torch.rand(2, count, dtype=torch.float64, generator=torch.Generator().manual_seed(0)).to(device)
    settings = {"clip": CLIP, "tour_BN": tour, "last_move_B2": last}
    move = pick(query, key, network(device), **settings, draw_2B=draw)
    logits = CLIP * torch.tanh(pair_logits_reference(*heads_of(*one), network(device)))
    allowed = open_pairs_reference(tour[:1], last[:1], ALL_MOVES)
    probability = PairDistribution(logits, allowed).logits_BNN.flatten().softmax(0).view(size, size)
    assert allowed[0][move[:, 0], move[:, 1]].all()
    distance, pairs = chi_squared(move, probability)
    # With nine degrees of freedom: above 30 in one of 2,500 runs.
    assert pairs <= 10
    assert distance < 30


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
@pytest.mark.parametrize("dtype", [torch.float16, torch.float32])
def test_ten_million_draws_are_all_allowed(dtype: torch.dtype) -> None:
    """No forbidden pair is ever drawn, with a capacity and without, whatever the draw."""
    from dact.kernels.pick_move.triton_impl import pick_move_triton

    rows, generator = 20_000, torch.Generator("cuda").manual_seed(0)
    ends = torch.tensor([0, 1 - 2**-53], dtype=torch.float64, device="cuda")
    for name, problem in PROBLEMS.items():
        batch = problem.sample(14, rows, generator)
        state = begun(name, batch)
        tour, stream = state.tour_BN, state.stream_B
        feasible = loads_of(batch, tour) if batch.depots else ALL_MOVES
        _, last = moves_so_far(rows, batch.length, "cuda")
        allowed = open_pairs_reference(tour, last, feasible)
        query, key = (x.to(dtype) for x in queries_and_keys(rows, batch.length, "cuda"))
        settings = {"clip": CLIP, "tour_BN": tour, "last_move_B2": last, "feasible": feasible}
        sound = torch.ones((), dtype=torch.bool, device="cuda")
        for run in range(250):
            draw = row_draws(stream)
            stream += STEP
            # The ends of the unit interval too.
            draw[:, :2] = ends if run % 2 else ends.flip(0)
            move = pick_move_triton(query, key, network("cuda"), **settings, draw_2B=draw)
            sound &= allowed[torch.arange(rows, device="cuda"), move[:, 0], move[:, 1]].all()
        assert sound, name


def heads_of(query_SBNE: Tensor, key_SBNE: Tensor) -> tuple[Tensor, Tensor]:
    """(B, 8, N, 64) queries and keys, the keys repeated for the four heads of an aspect."""
    query = torch.cat([query_SBNE[aspect].unflatten(2, (4, 64)).transpose(1, 2) for aspect in (0, 1)], dim=1)
    return query, key_SBNE.repeat_interleave(4, dim=0).transpose(0, 1)


def test_nothing_open(device: str) -> None:
    """A row without any open pair stays where it is: the move (0, 0) changes nothing."""
    from dact.kernels.pick_move.triton_impl import pick_move_triton

    query, key = queries_and_keys(1, 5, device)
    tour, last = moves_so_far(1, 5, device)
    shut = torch.zeros(1, 5, 5, dtype=torch.bool, device=device)
    draw = torch.full((2, 1), 0.5, dtype=torch.float64, device=device)
    settings = {"clip": CLIP, "tour_BN": tour, "last_move_B2": last, "draw_2B": draw}
    settings["feasible"] = Feasible(mask_BNN=shut)
    assert pick_move_triton(query, key, network(device), precision="tf32x3", **settings).tolist() == [[0, 0]]
    assert pick_move_reference(query, key, network(device), **settings).tolist() == [[0, 0]]
