"""The fused engine against the plain one; where there is no GPU its kernels run under Triton's interpreter."""

import os
from dataclasses import replace
from importlib.util import find_spec

import pytest
import torch

if not torch.cuda.is_available() and find_spec("triton"):
    os.environ["TRITON_INTERPRET"] = "1"

from begun import begun
from dact.kernels.row_draws import streams
from dact.policy import DecoderConfig, EncoderConfig, Policy, PolicyConfig, PositionConfig, single_aspect
from dact.problems import PROBLEMS, Batch
from dact.search import PlainEngine, SearchConfig, SearchState, start_state
from dact.search.engines.fused import FusedEngine

pytest.importorskip("triton")
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
NEEDS_GPU = (pytest.mark.gpu, pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device"))


def policy_for(problem_name: str) -> Policy:
    """A random policy of two layers: the first has a kernel of its own, all others are alike."""
    torch.manual_seed(0)
    config = PolicyConfig(features=PROBLEMS[problem_name].features, encoder_config=EncoderConfig(layers=2))
    return Policy(config).to(DEVICE)


@pytest.fixture
def batch(problem_name: str, generator: torch.Generator) -> Batch:
    """Two small instances: kernels are slow here."""
    return PROBLEMS[problem_name].sample(5, 2, generator).to(DEVICE)


def agree(left: SearchState, right: SearchState, names: tuple[str, ...]) -> None:
    """The same tours, and costs that differ by rounding alone."""
    for name in names:
        assert torch.equal(getattr(left, name), getattr(right, name)), name
    torch.testing.assert_close(left.cost_B, right.cost_B)
    torch.testing.assert_close(left.incumbent_cost_B, right.incumbent_cost_B)


@pytest.mark.parametrize(
    ("operator", "greedy"),
    [("two_opt", False), ("two_opt", True), ("insert", False), ("insert", True), ("swap", False), ("swap", True)],
)
def test_moves_are_those_of_the_plain_engine(problem_name: str, batch: Batch, operator: str, greedy: bool) -> None:
    """In float32 the same seed gives the same tours, whatever the operator."""
    problem, policy = PROBLEMS[problem_name], policy_for(problem_name)
    names = ("tour_BN", "last_move_B2", "incumbent_BN", "stall_B", "stream_B")
    config = SearchConfig(operator=operator, patience=2, greedy=greedy)
    fused = FusedEngine(problem, policy, config, precision="float32", graph_steps=2)
    plain = PlainEngine(problem, policy, config)
    left = right = begun(problem_name, batch)
    for steps in (2, 1):
        left, right = fused.advance(batch, left, steps), plain.advance(batch, right, steps)
        agree(left, right, names)


def test_a_problem_without_a_view_uses_its_own_methods(problem_name: str, batch: Batch) -> None:
    """Features and masks of the problem itself give the same moves as the kernel that looks at tours."""
    problem, policy = PROBLEMS[problem_name], policy_for(problem_name)
    own = replace(problem, view=None)  # type: ignore[type-var]
    begin = begun(problem_name, batch)
    left, right = (
        FusedEngine(each, policy, SearchConfig(), precision="float32").advance(batch, begin, 2)
        for each in (problem, own)
    )
    agree(left, right, ("tour_BN", "last_move_B2", "incumbent_BN", "stall_B"))


@pytest.mark.parametrize("greedy", [False, True])
def test_without_idle_moves(problem_name: str, batch: Batch, greedy: bool) -> None:
    """Kernels close the idle moves that the plain engine closes."""
    problem, policy = PROBLEMS[problem_name].with_idle_moves(False), policy_for(problem_name)
    config = SearchConfig(greedy=greedy)
    fused = FusedEngine(problem, policy, config, precision="float32", graph_steps=2)
    begin = begun(problem_name, batch)
    left, right = (engine.advance(batch, begin, 3) for engine in (fused, PlainEngine(problem, policy, config)))
    agree(left, right, ("tour_BN", "last_move_B2", "incumbent_BN", "stall_B"))


@pytest.mark.parametrize("operator", ["two_opt", "insert", "swap"])
def test_recent_tours(problem_name: str, generator: torch.Generator, operator: str) -> None:
    """Moves that lead back are drawn again as in the plain engine, by the same draws."""
    problem, policy = PROBLEMS[problem_name], policy_for(problem_name)
    batch = problem.sample(5, 4, generator).to(DEVICE)
    config = SearchConfig(operator=operator, tabu=20, patience=4)
    fused = FusedEngine(problem, policy, config, precision="float32", graph_steps=2)
    begin = begun(problem_name, batch)
    left, right = (engine.advance(batch, begin, 9) for engine in (fused, PlainEngine(problem, policy, config)))
    agree(left, right, ("tour_BN", "last_move_B2", "incumbent_BN", "stall_B", "recent_BL"))
    free = PlainEngine(problem, policy, replace(config, tabu=0)).advance(batch, begin, 9)
    assert not torch.equal(free.tour_BN, right.tour_BN)


def test_own_distances(generator: torch.Generator) -> None:
    """Costs by a matrix are costs by the matrix."""
    problem, policy = PROBLEMS["tsp"], policy_for("tsp")
    batch = problem.sample(8, 3, generator)
    parts = {"distance_INN": torch.rand(1, 8, 8), "matrix_B": torch.zeros(3, dtype=torch.long)}
    batch = Batch(**{**vars(batch), **parts}).to(DEVICE)
    engine = FusedEngine(problem, policy, SearchConfig(), precision="float32")
    state = engine.advance(batch, begun("tsp", batch), 2)
    torch.testing.assert_close(state.cost_B, batch.cost(state.tour_BN))


def test_half_precision(problem_name: str, batch: Batch) -> None:
    """In half precision tours stay feasible and costs exact."""
    problem = PROBLEMS[problem_name]
    engine = FusedEngine(problem, policy_for(problem_name), SearchConfig())
    state = engine.advance(batch, begun(problem_name, batch), 3)
    torch.testing.assert_close(state.cost_B, batch.cost(state.tour_BN))
    assert (state.incumbent_cost_B <= state.cost_B + 1e-6).all()


@pytest.mark.parametrize(
    "config",
    [
        single_aspect(2),
        PolicyConfig(features=2, encoder_config=EncoderConfig(norm="layer")),
        *(PolicyConfig(features=2, position=PositionConfig(kind=kind)) for kind in ("cyclic_paper", "sinusoidal")),
    ],
    ids=["single aspect", "layer norm", "Eq. 4's encoding", "sinusoidal encoding"],
)
def test_other_policies(config: PolicyConfig, generator: torch.Generator) -> None:
    """With other encodings, and without a kernel for the encoder, the moves are still the plain engine's."""
    torch.manual_seed(0)
    problem, policy = PROBLEMS["tsp"], Policy(config).to(DEVICE)
    batch = problem.sample(8, 2, generator).to(DEVICE)
    begin, search = begun("tsp", batch), SearchConfig()
    left, right = (
        engine.advance(batch, begin, 2)
        for engine in (
            FusedEngine(problem, policy, search, precision="float32"),
            PlainEngine(problem, policy, search),
        )
    )
    agree(left, right, ("tour_BN", "last_move_B2"))


def test_augmented_rows(problem_name: str, batch: Batch) -> None:
    """Rows under other symmetries of the square are searched as the plain engine searches them."""
    problem, policy = PROBLEMS[problem_name], policy_for(problem_name)
    rows, begin = batch.augmented(3), begun(problem_name, batch)
    tour_BN = begin.tour_BN.repeat_interleave(3, 0)
    begin = start_state(tour_BN, rows.cost(tour_BN), streams(0, range(batch.rows), DEVICE, copies=3))
    left, right = (
        engine.advance(rows, begin, 1)
        for engine in (
            FusedEngine(problem, policy, SearchConfig(), precision="float32"),
            PlainEngine(problem, policy, SearchConfig()),
        )
    )
    agree(left, right, ("tour_BN", "last_move_B2", "incumbent_BN"))


@pytest.mark.parametrize(
    ("problem_name", "size", "length"),
    [
        ("tsp", 130, 130),
        pytest.param("tsp", 1100, 1100, marks=NEEDS_GPU),
        pytest.param("cvrp", 1067, 1100, marks=NEEDS_GPU),
    ],
)
def test_long_tours(problem_name: str, size: int, length: int, generator: torch.Generator) -> None:
    """Tours too long for the layer kernel are searched too."""
    problem, policy = PROBLEMS[problem_name], policy_for(problem_name)
    batch = problem.sample(size, 1, generator).to(DEVICE)
    assert batch.length == length
    engine = FusedEngine(problem, policy, SearchConfig(), precision="float32")
    # A seed whose draws are not near where one position ends and the next begins.
    begin = begun(problem_name, batch, seed=1)
    left = engine.advance(batch, begin, 1)
    plain = PlainEngine(problem, policy, SearchConfig())
    agree(left, plain.advance(batch, begin, 1), ("tour_BN", "last_move_B2", "incumbent_BN", "stall_B", "stream_B"))


def test_what_it_cannot_do_is_said() -> None:
    """Other decoders and other precisions are refused with a reason."""
    problem = PROBLEMS["tsp"]
    odd = Policy(PolicyConfig(features=2, decoder_config=DecoderConfig(hidden=24)))
    with pytest.raises(ValueError, match="no kernel for 8 heads over 64 numbers with 24 hidden units"):
        FusedEngine(problem, odd, SearchConfig())
    with pytest.raises(ValueError, match="precision 'int4'"):
        FusedEngine(problem, policy_for("tsp"), SearchConfig(), precision="int4")


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
def test_replays_do_not_wait_for_the_host(problem_name: str, batch: Batch) -> None:
    """A hundred steps run without a synchronisation."""
    problem = PROBLEMS[problem_name]
    engine, begin = FusedEngine(problem, policy_for(problem_name), SearchConfig()), begun(problem_name, batch)
    engine.advance(batch, begin, 9)
    torch.cuda.set_sync_debug_mode("error")
    try:
        engine.advance(batch, begin, 100)
    finally:
        torch.cuda.set_sync_debug_mode("default")
