"""Searches that do not go back to recent tours."""

import pytest
import torch

from begun import begun
from dact.kernels.fingerprint import fingerprints
from dact.kernels.pick_move import Tabu, draw_new, draw_pair
from dact.operators import OPERATORS, two_opt
from dact.policy import EncoderConfig, Policy, PolicyConfig
from dact.problems import PROBLEMS, Batch
from dact.search import PlainEngine, SearchConfig, SearchState
from dact.search.engines.graphed import GraphedEngine
from dact.training.buffers import fields


def engine_for(problem_name: str, **settings: object) -> PlainEngine:
    """A plain engine with a random policy of one layer."""
    torch.manual_seed(0)
    config = PolicyConfig(features=PROBLEMS[problem_name].features, encoder_config=EncoderConfig(layers=1))
    return PlainEngine(PROBLEMS[problem_name], Policy(config), SearchConfig(**settings))  # type: ignore[arg-type]


def walked(engine: PlainEngine, batch: Batch, state: SearchState, steps: int) -> list[list[int]]:
    """The fingerprints of the tours of each row, step by step."""
    seen = [fingerprints(state.tour_BN, batch.depots)]
    for _ in range(steps):
        state = engine.advance(batch, state, 1)
        seen.append(fingerprints(state.tour_BN, batch.depots))
    return torch.stack(seen, dim=1).tolist()


@pytest.mark.parametrize("operator", list(OPERATORS))
def test_no_tour_comes_back(problem_name: str, generator: torch.Generator, operator: str) -> None:
    """With more recent tours than steps, few tours of a walk come again (eight draws may all lead back)."""
    batch = PROBLEMS[problem_name].sample(6, 8, generator)
    begin = begun(problem_name, batch)
    kept = walked(engine_for(problem_name, tabu=64, operator=operator), batch, begin, 30)
    free = walked(engine_for(problem_name, operator=operator), batch, begin, 30)
    kept_again, free_again = (sum(len(row) - len(set(row)) for row in rows) for rows in (kept, free))
    assert free_again > 20
    assert kept_again < free_again / 5


@pytest.mark.parametrize("length", [3, 5])
def test_only_the_last_tours_are_kept(problem_name: str, generator: torch.Generator, length: int) -> None:
    """The newest stands last, the tour of the start counts, and the oldest is forgotten."""
    batch = PROBLEMS[problem_name].sample(6, 3, generator)
    engine, state = engine_for(problem_name, tabu=length), begun(problem_name, batch)
    tours = [fingerprints(state.tour_BN, batch.depots)]
    for _ in range(4):
        state = engine.advance(batch, state, 1)
        tours.append(fingerprints(state.tour_BN, batch.depots))
    assert state.recent_BL is not None
    assert torch.equal(state.recent_BL, torch.stack(tours[-length:], dim=1))


def test_without_it_nothing_is_kept(problem_name: str, generator: torch.Generator) -> None:
    """The paper's search has the state that it had."""
    batch = PROBLEMS[problem_name].sample(6, 3, generator)
    assert engine_for(problem_name).advance(batch, begun(problem_name, batch), 2).recent_BL is None


def test_an_engine_keeps_as_many_as_it_is_told(problem_name: str, generator: torch.Generator) -> None:
    """Whatever the state comes with, from an engine with other settings."""
    batch = PROBLEMS[problem_name].sample(6, 3, generator)
    state = engine_for(problem_name, tabu=8).advance(batch, begun(problem_name, batch), 2)
    assert engine_for(problem_name).advance(batch, state, 1).recent_BL is None
    fewer = engine_for(problem_name, tabu=3).advance(batch, state, 1).recent_BL
    assert fewer is not None
    assert fewer.shape == (3, 3)


def test_rows_do_not_depend_on_their_neighbours(problem_name: str, generator: torch.Generator) -> None:
    """Spare draws are the row's own."""
    batch = PROBLEMS[problem_name].sample(6, 6, generator)
    engine, begin = engine_for(problem_name, tabu=16), begun(problem_name, batch)
    row_R = torch.tensor([4, 1])
    some = SearchState(**{name: x[row_R] for name, x in fields(begin).items()})
    together = engine.advance(batch, begin, 12)
    assert torch.equal(together.tour_BN[row_R], engine.advance(batch.take(row_R), some, 12).tour_BN)


def test_recorded_steps_are_the_plain_ones(problem_name: str, generator: torch.Generator) -> None:
    """Buffers of replayed steps hold the recent tours too."""
    batch = PROBLEMS[problem_name].sample(6, 3, generator)
    plain, begin = engine_for(problem_name, tabu=8), begun(problem_name, batch)
    graphed = GraphedEngine(plain.problem, plain.policy, plain.config, graph_steps=4)  # type: ignore[arg-type]
    expected, state = plain.advance(batch, begin, 11), begin
    for steps in (6, 5):
        state = graphed.advance(batch, state, steps)
    assert torch.equal(state.tour_BN, expected.tour_BN)
    assert torch.equal(state.recent_BL, expected.recent_BL)


def test_a_move_that_leads_back_is_drawn_again() -> None:
    """Draws to spare are taken in turn; where all moves lead back, one of them is made."""
    tour = torch.arange(5).repeat(200, 1)
    mass = torch.zeros(200, 5, 5)
    mass[:, 1, 2], mass[:, 2, 3] = 3.0, 1.0
    tabooed = fingerprints(two_opt(tour, torch.tensor([[1, 2]]).expand(200, 2)), 0)
    draw = torch.rand(2, 200, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    for known, expected in ((tabooed, 20), (fingerprints(tour, 0), 150)):
        tabu = Tabu(tour, known.unsqueeze(1), torch.arange(200), two_opt, 0)
        first = (draw_new(mass, draw, tabu) == torch.tensor([1, 2])).all(1).sum()
        # Three quarters to the eighth power are a tenth.
        assert abs(int(first) - expected) < 20
    other = fingerprints(two_opt(tour, torch.tensor([[2, 3]]).expand(200, 2)), 0)
    all_back = draw_new(mass, draw, Tabu(tour, torch.stack((tabooed, other), 1), torch.arange(200), two_opt, 0))
    assert mass[torch.arange(200), all_back[:, 0], all_back[:, 1]].gt(0).all()
    assert not torch.equal(all_back, draw_pair(mass, draw))


@pytest.mark.parametrize(
    ("settings", "named"),
    [({"tabu": -1}, "tabu -1"), ({"tabu": 1025}, "tabu 1025"), ({"tabu": 8, "greedy": True}, "tabu 8")],
)
def test_wrong_settings(settings: dict[str, object], named: str) -> None:
    """Refused by name."""
    with pytest.raises(ValueError, match=named):
        SearchConfig(**settings)  # type: ignore[arg-type]
