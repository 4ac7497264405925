"""Recordings of the policy for single rows on a CPU."""

import torch

from dact.policy import Policy, PolicyConfig, recording


def make() -> Policy:
    """A policy from a fixed seed."""
    torch.manual_seed(0)
    return Policy(PolicyConfig(features=2))


@torch.inference_mode()
def test_a_recording_gives_what_the_calls_give() -> None:
    """Before and after the recording is made, and for features it has not seen, the logits are those of the network."""
    policy = make()
    for call in range(recording.PATIENCE + 3):
        features = torch.rand(1, 12, 2, generator=torch.Generator().manual_seed(call))
        torch.testing.assert_close(policy(features), policy.decode(policy.encode(features)), atol=1e-5, rtol=1e-5)
    assert policy._playback.recordings[features.shape] is not policy._playback.whole


@torch.inference_mode()
def test_a_recording_follows_the_parameters() -> None:
    """Weights loaded after the recording are the ones it uses."""
    policy, other = make(), Policy(PolicyConfig(features=2))
    features = torch.rand(1, 9, 2)
    for _ in range(recording.PATIENCE):
        policy(features)
    policy.load_state_dict(other.state_dict())
    torch.testing.assert_close(policy(features), other(features), atol=1e-5, rtol=1e-5)


@torch.inference_mode()
def test_each_length_has_its_own_recording() -> None:
    """Sizes are constants of a recording, so another length is not played from it."""
    policy = make()
    for length in (6, 11):
        for _ in range(recording.PATIENCE):
            assert policy(torch.rand(1, length, 2)).shape == (1, length, length)
    assert len(policy._playback.recordings) == 2


def test_nothing_is_registered_twice() -> None:
    """The recorder adds no parameters to the policy."""
    assert not any("recorder" in name for name in make().state_dict())
