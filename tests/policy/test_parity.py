"""Parity with the authors' network: their parameters under their names give their numbers here."""

from pathlib import Path

import numpy as np
import pytest
import torch

from dact import tours
from dact.operators import two_opt
from dact.policy.authors import critic_from_authors, policy_from_authors
from dact.problems import Batch, Cvrp, Tsp

TOLERANCE = {"atol": 1e-5, "rtol": 0.0}


class Fixture:
    """One recorded forward pass, with helpers between node order and tour order."""

    def __init__(self, path: Path) -> None:
        self.arrays = {name: torch.from_numpy(value) for name, value in np.load(path).items()}
        self.position_BN = self.arrays["position"].long()
        self.tour_BN = tours.position(self.position_BN)
        self.policy = policy_from_authors(self.part("actor/"))
        self.critic = critic_from_authors(self.part("critic/"), self.policy.config)

    def part(self, prefix: str) -> dict[str, torch.Tensor]:
        return {name.removeprefix(prefix): value for name, value in self.arrays.items() if name.startswith(prefix)}

    def features(self) -> torch.Tensor:
        return tours.in_tour_order(self.arrays["features"], self.tour_BN)

    def by_node(self, value_BND: torch.Tensor) -> torch.Tensor:
        return tours.in_tour_order(value_BND, self.position_BN)

    def batch(self) -> Batch:
        """The instances behind the recording; the depot is stored as several nodes of equal coordinates."""
        points = self.arrays["coordinates"]
        depots = int((points == points[:, :1]).all(2).sum(1).min()) if "demand_over_capacity" in self.arrays else 0
        share = self.arrays.get("demand_over_capacity", torch.zeros(points.shape[:2]))
        room = next(room for room in range(1, 10_000) if (share * room - (share * room).round()).abs().max() < 1e-3)
        return Batch(
            coordinates_BN2=points,
            scale_B=torch.ones(len(points)),
            demand_BN=(share * room).round().int(),
            capacity_B=torch.full((len(points),), room, dtype=torch.int32),
            depots=depots,
        )


def fixtures(folder: Path) -> list[Path]:
    """Every recording in the folder."""
    found = sorted(folder.glob("*.npz"))
    if not found:
        pytest.skip(f"no parity fixtures in {folder}")
    return found


def test_parity_of_the_cyclic_encoding(parity_folder: Path) -> None:
    """The position aspect before the encoder."""
    for path in fixtures(parity_folder):
        fixture = Fixture(path)
        places = fixture.policy.places(fixture.tour_BN.shape[1], torch.device("cpu"))
        torch.testing.assert_close(places[fixture.position_BN], fixture.arrays["position_aspect_in"], **TOLERANCE)


def test_parity_of_the_embedding_and_encoder(parity_folder: Path) -> None:
    """Both aspects, before and after the encoder."""
    for path in fixtures(parity_folder):
        fixture = Fixture(path)
        embedded = fixture.policy.encoder.embed(fixture.arrays["features"])
        torch.testing.assert_close(embedded, fixture.arrays["node_aspect_in"], **TOLERANCE)
        node, place = fixture.policy.encode(fixture.features())
        torch.testing.assert_close(fixture.by_node(node), fixture.arrays["node_aspect_out"], **TOLERANCE)
        torch.testing.assert_close(fixture.by_node(place), fixture.arrays["position_aspect_out"], **TOLERANCE)


@pytest.mark.parametrize("gradients", [True, False])
def test_parity_of_the_logits(parity_folder: Path, gradients: bool) -> None:
    """Logits before masking, in the form used in training and in the one used in search."""
    for path in fixtures(parity_folder):
        fixture = Fixture(path)
        with torch.set_grad_enabled(gradients):
            logits = fixture.policy(fixture.features())
        by_first = fixture.by_node(logits)
        by_node = fixture.by_node(by_first.transpose(1, 2)).transpose(1, 2)
        torch.testing.assert_close(by_node, fixture.arrays["logits_before_mask"], **TOLERANCE)


def test_parity_of_the_value(parity_folder: Path) -> None:
    """The critic's value."""
    for path in fixtures(parity_folder):
        fixture = Fixture(path)
        value = fixture.critic(fixture.policy.encode(fixture.features()))
        torch.testing.assert_close(value, fixture.arrays["value"], **TOLERANCE)


def test_parity_of_features_and_forbidden_pairs(parity_folder: Path) -> None:
    """Node features and masks computed from the instance and the tour equal the recorded ones."""
    for path in fixtures(parity_folder):
        fixture = Fixture(path)
        batch = fixture.batch()
        problem = Cvrp() if batch.depots else Tsp()
        successor = tours.successor(fixture.tour_BN)
        assert torch.equal(successor, fixture.arrays["successor"].long())
        features = problem.node_features(batch, fixture.tour_BN)
        ours, theirs = fixture.by_node(features), fixture.arrays["features"]
        torch.testing.assert_close(ours[..., :4], theirs[..., :4], **TOLERANCE)
        # Their loads are unpacked from one float32 that also holds route and position: a thousandth off at 20
        # customers, more with more of them, and then some of their masks are off too.
        torch.testing.assert_close(ours[..., 4:], theirs[..., 4:], atol=2e-2, rtol=0.0)
        precise = ours.shape[2] == 2 or bool((ours - theirs).abs().max() < 2e-3)
        allowed = problem.allowed_moves(batch, fixture.tour_BN, two_opt)
        size = fixture.tour_BN.shape[1]
        allowed = torch.ones(1, size, size, dtype=torch.bool) if allowed is None else allowed
        allowed = allowed.expand(len(fixture.tour_BN), -1, -1) & ~torch.eye(size, dtype=torch.bool)
        by_first = fixture.by_node(allowed.float())
        by_node = fixture.by_node(by_first.transpose(1, 2)).transpose(1, 2).bool()
        wrong = (~by_node != fixture.arrays["forbidden"]).float().mean()
        assert wrong == 0 if precise else wrong < 0.01
