"""The encoder-layer kernel against plain PyTorch, and that against the policy's own modules."""

import pytest
import torch
from comparing import aspects, distance
from torch import nn

from dact.kernels.dual_layer import DualLayer, dual_layer_reference
from dact.kernels.launch import power_of_two
from dact.policy.encoders import DualAspectEncoder, EncoderConfig

pytest.importorskip("triton")
TOLERANCE = {torch.float32: 1e-5, torch.float16: 4e-3}


def random_layer(device: str) -> DualLayer:
    """Weights as a fresh policy has them."""
    torch.manual_seed(0)
    return layer_of(DualAspectEncoder(2, EncoderConfig(layers=1)).to(device).layers)


def layer_of(modules: nn.Sequential) -> DualLayer:
    """The weights of an attention and a feed-forward module."""
    a, f = modules[0], modules[1]
    weights = (a.packed_SDE, a.out_SED, f.into_SDC, f.into_bias_S1C, f.out_SCD, f.out_bias_S1D)
    return DualLayer(*(weight.detach() for weight in weights))


def test_reference_is_the_policys_layer() -> None:
    """Head by head or all at once, the layer is the same."""
    torch.manual_seed(0)
    layers = DualAspectEncoder(2, EncoderConfig(layers=1)).layers
    x = aspects(2, 11, "cpu")
    assert distance(dual_layer_reference(x, layer_of(layers), heads=4), layers(x).detach()) < 1e-6


@pytest.mark.parametrize(
    ("size", "rows"), [(5, 3), (16, 1), (17, 3), (31, 2), (33, 2), (63, 1), (64, 1), (65, 1), (127, 1)]
)
@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.usefixtures("poisoned")
def test_layer(size: int, rows: int, dtype: torch.dtype, device: str) -> None:
    """The kernel's aspects are the reference's, with rows that fill programs partly, and padding has no say."""
    from dact.kernels.dual_layer.triton_impl import dual_layer_triton, pack

    layer, x = random_layer(device), aspects(rows, size, device)
    expected = dual_layer_reference(x, layer, heads=4)
    actual = dual_layer_triton(x[0].to(dtype), x[1].to(dtype), pack(layer, 4, dtype), precision="tf32x3")
    assert actual.dtype == dtype
    assert distance(actual, expected) < TOLERANCE[dtype]


@pytest.mark.parametrize("group", [1, 2, 4])
def test_rows_that_share_a_program_do_not_mix(group: int, device: str) -> None:
    """However many rows share a program, and with one table of places for all, the result is the same."""
    from dact.kernels.dual_layer.triton_impl import Launch, dual_layer_triton, pack

    layer, x = random_layer(device), aspects(5, 9, device)
    place = x[1, :1].expand_as(x[0])
    expected = dual_layer_reference(torch.stack((x[0], place)), layer, heads=4)
    launch = Launch(group=group, warps=4)
    actual = dual_layer_triton(x[0], place, pack(layer, 4, torch.float32), precision="tf32x3", launch=launch)
    assert distance(actual, expected) < 1e-5


@pytest.mark.parametrize("features", [2, 7])
def test_embedding_on_the_way(features: int, device: str) -> None:
    """Nodes given by their features are embedded as by a linear layer before."""
    from dact.kernels.dual_layer.triton_impl import dual_layer_triton, pack

    layer, x = random_layer(device), aspects(3, 17, device)
    values, embed = torch.rand(3, 17, features, device=device), torch.randn(features, 64, device=device)
    expected = dual_layer_reference(torch.stack((values @ embed, x[1])), layer, heads=4)
    packed = pack(layer, 4, torch.float32)
    actual = dual_layer_triton(values, x[1], packed, precision="tf32x3", embed_FD=embed)
    assert distance(actual, expected) < 1e-5


@pytest.mark.parametrize(("size", "rows"), [(9, 5), (16, 2), (17, 3), (33, 1), (65, 1)])
@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.usefixtures("poisoned")
def test_constants_of_places(size: int, rows: int, dtype: torch.dtype, device: str) -> None:
    """With what places alone decide computed beforehand, a first layer gives the same."""
    from dact.kernels.dual_layer.constants import place_constants
    from dact.kernels.dual_layer.triton_impl import dual_layer_triton, pack

    layer, x = random_layer(device), aspects(rows, size, device)
    values, embed, place = x[0, :, :, :2].contiguous(), torch.randn(2, 64, device=device), x[1, :1].expand_as(x[1])
    expected = dual_layer_reference(torch.stack((values @ embed, place)), layer, heads=4)
    constants = place_constants(place[0], layer, heads=4, padded=power_of_two(size), dtype=dtype)
    packed = pack(layer, 4, dtype)
    actual = dual_layer_triton(values, place, packed, precision="tf32x3", embed_FD=embed, constants=constants)
    assert distance(actual, expected) < TOLERANCE[dtype]


@pytest.mark.parametrize(("size", "rows"), [(17, 3), (65, 1)])
def test_training_rounds_as_the_search_does(size: int, rows: int, device: str) -> None:
    """Under the interpreter, the layer that training keeps notes of gives the search's aspects bit by bit."""
    from dact.kernels.dual_layer.forward import forward
    from dact.kernels.dual_layer.triton_impl import dual_layer_triton, pack

    if device == "cuda":
        pytest.skip("a GPU may multiply in another order in different kernels")
    packed, x = pack(random_layer(device), 4, torch.float16), aspects(rows, size, device).half()
    kept = forward(x, packed, "tf32", torch.float16)
    assert torch.equal(kept.result_SBND, dual_layer_triton(x[0], x[1], packed))


def test_sizes_without_a_kernel_are_refused(device: str) -> None:
    """Tours too long for one program raise an error that names the size."""
    from dact.kernels.dual_layer.triton_impl import dual_layer_triton, pack

    x = aspects(1, 130, device)
    with pytest.raises(ValueError, match="130 positions"):
        dual_layer_triton(x[0], x[1], pack(random_layer(device), 4, torch.float32))
