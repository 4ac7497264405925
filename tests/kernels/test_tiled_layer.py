"""The encoder layer in three kernels against plain PyTorch."""

import pytest
import torch
from comparing import aspects, distance

from dact.kernels.tiled_layer import DualLayer, dual_layer_reference

pytest.importorskip("triton")
TOLERANCE = {torch.float32: 1e-5, torch.float16: 4e-3}
SIZES = [(65, 1), (80, 3), (81, 1), (97, 1), (127, 1), (128, 1), (129, 2), (192, 1), (255, 1), (257, 1)]
"""Positions and rows."""
NEEDS_GPU = (pytest.mark.gpu, pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device"))
LONG = [pytest.param(size, 2, marks=NEEDS_GPU) for size in (1023, 1025, 1100)]
"""Too slow under the interpreter."""


def random_layer(device: str) -> DualLayer:
    """Weights of the paper's sizes."""
    torch.manual_seed(0)
    sizes = ((2, 64, 256), (2, 128, 64), (2, 64, 64), (2, 1, 64), (2, 64, 64), (2, 1, 64))
    return DualLayer(*(torch.randn(size, device=device) / 8 for size in sizes))


@pytest.mark.parametrize(("size", "rows"), [*SIZES, *LONG])
@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.usefixtures("poisoned")
def test_layer(size: int, rows: int, dtype: torch.dtype, device: str) -> None:
    """The kernels' aspects are the reference's at the ends of tiles, and padding has no say."""
    from dact.kernels.dual_layer.triton_impl import pack
    from dact.kernels.tiled_layer.triton_impl import tiled_layer_triton

    layer, x = random_layer(device), aspects(rows, size, device)
    expected = dual_layer_reference(x, layer, heads=4)
    actual = tiled_layer_triton(x.to(dtype), pack(layer, 4, dtype), precision="tf32x3")
    assert actual.dtype == dtype
    assert distance(actual, expected) < TOLERANCE[dtype]


def test_pieces() -> None:
    """Pieces are powers of two that hold all keys, and all but the last, of 16, are full."""
    from dact.kernels.tiled_layer.triton_impl import pieces

    for size in range(1, 129):
        *full, last = pieces(size)
        assert last == 16
        assert all(piece & (piece - 1) == 0 and piece >= 16 for piece in full)
        assert sum(full) < size <= sum(full) + last


def test_other_launches(device: str) -> None:
    """Tiles of other sizes give the same aspects."""
    from dact.kernels.dual_layer.triton_impl import pack
    from dact.kernels.tiled_layer.triton_impl import Launch, tiled_layer_triton

    layer, x = random_layer(device), aspects(1, 150, device)
    expected = dual_layer_reference(x, layer, heads=4)
    launch = Launch(queries=128, warps=8, keys=128)
    actual = tiled_layer_triton(x, pack(layer, 4, torch.float32), precision="tf32x3", launch=launch)
    assert distance(actual, expected) < 1e-5


@pytest.mark.parametrize("size", [65, 80, 97])
@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.usefixtures("poisoned")
def test_first_layer(size: int, dtype: torch.dtype, device: str) -> None:
    """With what places alone decide computed beforehand, a first layer gives the same."""
    from dact.kernels.dual_layer.constants import place_constants
    from dact.kernels.dual_layer.triton_impl import pack
    from dact.kernels.tiled_layer.triton_impl import first_layer_triton, pieces

    layer, (values, place) = random_layer(device), aspects(2, size, device)
    embed, values, place = torch.randn(7, 64, device=device), values[..., :7].contiguous(), place[0]
    expected = dual_layer_reference(torch.stack((values @ embed, place.expand(2, -1, -1))), layer, heads=4)
    constants = place_constants(place, layer, heads=4, padded=sum(pieces(size)), dtype=dtype)
    actual = first_layer_triton(values, constants, pack(layer, 4, dtype), embed, precision="tf32x3")
    assert distance(actual, expected) < TOLERANCE[dtype]


@pytest.mark.usefixtures("poisoned")
def test_entering(device: str) -> None:
    """Features are embedded as by a linear layer, and every row has the table of places."""
    from dact.kernels.tiled_layer.triton_impl import enter_triton

    torch.manual_seed(0)
    values, embed = torch.rand(3, 70, 7, device=device), torch.randn(7, 64, device=device)
    place = torch.randn(70, 64, device=device)
    expected = torch.stack((values @ embed, place.expand(3, -1, -1)))
    assert distance(enter_triton(values, place, embed, torch.float32), expected) < 1e-6
    assert distance(enter_triton(values, place, embed, torch.float16), expected) < 1e-3


def test_sizes_without_a_kernel_are_refused(device: str) -> None:
    """Rows that belong in one program raise an error that names their size."""
    from dact.kernels.dual_layer.triton_impl import pack
    from dact.kernels.tiled_layer.triton_impl import tiled_layer_triton

    with pytest.raises(ValueError, match="64 positions"):
        tiled_layer_triton(aspects(1, 64, device), pack(random_layer(device), 4, torch.float32))
