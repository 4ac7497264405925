"""Networks on some rows at a time."""

import pytest
import torch

from dact.threads import one_thread_per_operation
from dact.training import chunks
from dact.training.chunks import in_chunks
from dact.training.ppo import evaluate_segment, update
from dact.training.rollout import rollout


@pytest.fixture(params=[1, 3])
def threads(request):
    """So many workers."""
    before = torch.get_num_threads()
    torch.set_num_threads(request.param)
    with one_thread_per_operation():
        yield request.param
    torch.set_num_threads(before)


@pytest.fixture
def small(monkeypatch):
    """Blocks of three rows of tours of six positions."""
    monkeypatch.setattr(chunks, "PAIRS", 3 * 6**2)


@pytest.mark.parametrize("kept", [0, 1e9])
@pytest.mark.usefixtures("threads", "small")
def test_chunks_give_what_the_whole_gives(kept, monkeypatch):
    """Values and gradients, exactly where sums are exact, in the order of the rows, activations kept or not."""
    monkeypatch.setattr(chunks, "KEPT_BYTES", kept)
    monkeypatch.setattr(chunks, "ROUND", 2)
    weight, unused = torch.tensor([2.0, 3.0], requires_grad=True), torch.zeros(2, requires_grad=True)
    x_R2 = torch.arange(20.0).view(10, 2)
    seen = []

    def work(x_R2):
        seen.append(len(x_R2))
        return x_R2 * weight, (x_R2 * weight).sum(1) + (0 * unused).sum()

    outputs = in_chunks(work, [x_R2], [weight, unused], 6)
    assert sorted(seen) == [1, 3, 3, 3]
    whole = work(x_R2)
    for each, expected in zip(outputs, whole, strict=True):
        assert torch.equal(each, expected)
    grads, expected = (
        torch.autograd.grad((y_R2 * x_R2).sum() + (5 * s_R).sum(), [weight, unused]) for y_R2, s_R in (outputs, whole)
    )
    for one, other in zip(grads, expected, strict=True):
        assert torch.equal(one, other)
    with torch.no_grad():
        assert not in_chunks(work, [x_R2], [weight], 6)[0].requires_grad


@pytest.mark.usefixtures("threads")
def test_an_update_is_the_same_in_chunks(make_learner, problem_name, monkeypatch):
    """Evaluation, gradients and metrics of a segment, up to rounding, activations kept or not."""
    found = []
    for pairs, kept in ((10**9, 1e9), (5 * 16**2, 1e9), (5 * 16**2, 0)):
        monkeypatch.setattr(chunks, "PAIRS", pairs)
        monkeypatch.setattr(chunks, "KEPT_BYTES", kept)
        learner = make_learner(problem_name, segment=4)
        _, segment = rollout(learner.engine, learner.task, learner.buffers.batch, learner.buffers.state, 4)
        now = evaluate_segment(learner.networks, segment)
        parameters = [*learner.networks.policy.parameters(), *learner.networks.critic.parameters()]
        total = (now.log_prob_TB * segment.reward_TB).sum() + now.value_TB.sum() + now.entropy_TB.sum()
        grads = torch.autograd.grad(total, parameters)
        learner.optimiser.set_rates(1e-3, 1e-3)
        metrics_M = update(learner.networks, segment, learner.optimiser, learner.config)
        found.append((*now, *grads, metrics_M))
    for whole, *others in zip(*found, strict=True):
        for cut in others:
            torch.testing.assert_close(cut, whole, rtol=1e-3, atol=1e-5)


@pytest.mark.usefixtures("threads", "small")
def test_an_error_in_a_chunk_reaches_the_caller():
    """Nothing is swallowed."""

    def fail(x_R2):
        raise RuntimeError("no")

    with pytest.raises(RuntimeError, match="no"):
        in_chunks(fail, [torch.zeros(10, 2)], [torch.zeros(2, requires_grad=True)], 6)


def test_training_on_a_cpu_has_one_thread_an_operation(tmp_path, tiny, train):
    """While it runs; the number of threads is put back."""
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    seen = []
    train(tmp_path / "run", tiny(), segments=3, watch=lambda _: seen.append(torch.get_num_threads()))
    after = torch.get_num_threads()
    torch.set_num_threads(before)
    assert set(seen) == {1}
    assert after == 2
