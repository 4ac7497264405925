"""Random numbers of each row's own: known values, the kernel against plain PyTorch, and how chance should look."""

import pytest
import torch

from dact.kernels.row_draws import STEP, many_draws, new_streams, row_draws, row_draws_reference, streams


def splitmix64(state: int) -> int:
    """The published algorithm in Python's own integers: what a generator in this state gives next."""
    word = 2**64 - 1
    z = (state + 0x9E3779B97F4A7C15) & word
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & word
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & word
    return z ^ (z >> 31)


def test_published_values() -> None:
    """The first numbers of the generator begun with 1234567, as they are widely quoted."""
    state, seen = 1234567, []
    for _ in range(3):
        seen.append(splitmix64(state))
        state += 0x9E3779B97F4A7C15
    assert seen == [6457827717110365317, 3203168211198807973, 9817491932198370423]
    draw = row_draws(torch.tensor([1234567]))[:, 0].tolist()
    assert draw == [(number >> 11) / 2**53 for number in seen[:2]]
    assert float(row_draws(torch.tensor([1234567]) + STEP)[0]) == (seen[2] >> 11) / 2**53


@pytest.mark.parametrize("rows", [1, 255, 256, 257, 1000])
def test_kernel_equals_the_reference(rows: int, device: str) -> None:
    """Bit for bit, for streams of either sign."""
    pytest.importorskip("triton")
    from dact.kernels.row_draws.triton_impl import row_draws_triton

    stream = streams(5, range(rows), device)
    assert rows < 100 or ((stream < 0).any() and (stream > 0).any())
    assert torch.equal(row_draws_triton(stream), row_draws_reference(stream))


def test_rows_draw_for_themselves() -> None:
    """Which rows are beside it changes nothing for a row; another place or another seed does."""
    whole = streams(3, range(40), "cpu")
    assert torch.equal(whole[17:29], streams(3, range(17, 29), "cpu"))
    assert torch.equal(row_draws(whole)[:, 17:29], row_draws(whole[17:29]))
    assert len(set(torch.cat((whole, streams(4, range(40), "cpu"))).tolist())) == 80
    assert len(set(new_streams(1000, torch.Generator().manual_seed(0)).tolist())) == 1000


def test_draws_look_random() -> None:
    """Uniform over rows and over steps, the two draws of a step independent, neighbours in place and in time too."""
    stream = streams(0, range(20_000), "cpu")
    now, then = row_draws(stream), row_draws(stream + STEP)
    steps = row_draws(stream[0] + STEP * torch.arange(20_000))
    for draw in (*now, *steps):
        assert draw.min() >= 0
        assert draw.max() < 1
        count = torch.histc(draw.float(), 100, 0, 1)
        assert float(((count - 200) ** 2 / 200).sum()) < 161  # chi-square of 99 degrees: one in ten thousand is above
    pairs = [(now[0], now[1]), (now[0], then[0]), (now[1], then[0]), (now[0, :-1], now[0, 1:]), (steps[0], steps[1])]
    for one, other in pairs:
        assert abs(float(torch.corrcoef(torch.stack((one, other)))[0, 1])) < 4 / len(one) ** 0.5


def test_many_draws_are_others() -> None:
    """Numbers for a start are not those that the search draws next, and are a row's own as well."""
    stream = streams(1, range(50), "cpu")
    many = many_draws(stream, 30)
    assert many.shape == (50, 30)
    assert torch.equal(many[7:9], many_draws(stream[7:9], 30))
    searched = row_draws((stream.unsqueeze(1) + STEP * torch.arange(15)).flatten())
    assert not set(many.flatten().tolist()) & set(searched.flatten().tolist())
