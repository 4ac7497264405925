"""The trained encoder layers' kernels against plain PyTorch with autograd, in float64."""

import pytest
import torch
from comparing import distance
from torch import Tensor

from dact.kernels.dual_layer import DualLayer, dual_layer_reference
from dact.policy.encoders import DualAspectEncoder, EncoderConfig

pytest.importorskip("triton")
needs_gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="the interpreter has one order of programs")
HEADS = 4
NAMES = ("embed", *DualLayer._fields)
# Where rounding moves a hidden unit across zero, its gradient appears or vanishes: the share of such units is as small
# as the rounding, but the distance of the gradients goes with its root.
BEHIND_RELU = ("into_SDC", "into_bias_S1C")


def tolerance(name: str, dtype: torch.dtype) -> float:
    """How far the gradient of a parameter may be from the truth, relative to its norm."""
    if dtype == torch.float32:
        return 2e-6
    return 4e-2 if name in BEHIND_RELU else 1e-2


class Case:
    """An encoder with inputs and a gradient for its result."""

    def __init__(self, rows: int, size: int, device: str, features: int = 2, layers: int = 1) -> None:
        torch.manual_seed(size)
        self.encoder = DualAspectEncoder(features, EncoderConfig(layers=layers)).to(device)
        self.features = torch.rand(rows, size, features, device=device)
        self.place = torch.randn(size, 64, device=device)
        self.grad = torch.randn(2, rows, size, 64, device=device)
        self.names = [NAMES[0], *NAMES[1:] * layers]

    def parameters(self) -> list[Tensor]:
        return [self.encoder.embed.weight, *(x for layer in self.encoder.weights() for x in layer)]

    def aspects(self, dtype: torch.dtype) -> Tensor:
        from dact.kernels.dual_layer.training import encode_triton

        embed, layers = self.encoder.embed.weight, self.encoder.weights()
        return encode_triton(self.features, self.place, embed, layers, HEADS, dtype, precision="ieee")

    def gradients(self, dtype: torch.dtype, scale: float = 1.0) -> tuple[Tensor, ...]:
        return torch.autograd.grad(self.aspects(dtype), self.parameters(), scale * self.grad)

    def truth(self) -> tuple[Tensor, tuple[Tensor, ...]]:
        """Aspects and gradients in float64."""
        embed, *weights = (x.detach().double().requires_grad_() for x in self.parameters())
        node = self.features.double() @ embed.t()
        x = torch.stack((node, self.place.double().expand_as(node)))
        for start in range(0, len(weights), 6):
            x = dual_layer_reference(x, DualLayer(*weights[start : start + 6]), HEADS)
        return x.detach(), torch.autograd.grad(x, (embed, *weights), self.grad.double())


def skip_unless_launched(dtype: torch.dtype, device: str) -> None:
    """Kernels are cut for half precision; in float32 they are there to be checked by the interpreter."""
    if device == "cuda" and dtype == torch.float32:
        pytest.skip("training launches these kernels in half precision only")


def assert_gradients(case: Case, actual: tuple[Tensor, ...], expected: tuple[Tensor, ...], dtype: torch.dtype) -> None:
    """Every parameter's gradient is float32, laid out as the parameter, and near the truth."""
    for name, ours, theirs in zip(case.names, actual, expected, strict=True):
        assert ours.dtype == torch.float32
        assert ours.is_contiguous()
        assert distance(ours, theirs) < tolerance(name, dtype), name


@pytest.mark.parametrize(("size", "rows"), [(5, 3), (16, 5), (20, 3), (31, 2), (33, 2), (64, 1), (100, 1), (120, 1)])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16])
@pytest.mark.usefixtures("poisoned")
def test_gradients_of_a_layer(size: int, rows: int, dtype: torch.dtype, device: str) -> None:
    """One layer's aspects and gradients are those of float64 autograd, with rows that fill programs partly."""
    skip_unless_launched(dtype, device)
    case = Case(rows, size, device)
    aspects, expected = case.truth()
    assert distance(case.aspects(dtype), aspects) < (1e-6 if dtype == torch.float32 else 2e-3)
    assert_gradients(case, case.gradients(dtype), expected, dtype)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16])
@pytest.mark.usefixtures("poisoned")
def test_gradients_through_layers(dtype: torch.dtype, device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two layers with a gradient of the usual size in training, and few programs, so that each has several rows."""
    from dact.kernels.dual_layer import backward

    skip_unless_launched(dtype, device)
    monkeypatch.setattr(backward, "MULTIPROCESSORS", 4)
    case = Case(5, 17, device, features=7, layers=2)
    case.grad *= 1e-7
    assert_gradients(case, case.gradients(dtype), case.truth()[1], dtype)


def test_small_gradients_lose_nothing(device: str) -> None:
    """In float16, a gradient 2^30 times smaller gives gradients that are exactly so much smaller."""
    case = Case(3, 12, device)
    for ours, theirs in zip(case.gradients(torch.float16), case.gradients(torch.float16, 2.0**-30), strict=True):
        assert torch.equal(ours * 2.0**-30, theirs)


@needs_gpu
def test_same_inputs_same_bits(device: str) -> None:
    """Sums have a fixed order."""
    case = Case(5, 12, device, layers=2)
    for ours, theirs in zip(case.gradients(torch.float16), case.gradients(torch.float16), strict=True):
        assert torch.equal(ours, theirs)


def test_no_gradient_stays_none(device: str) -> None:
    """Rows that teach nothing leave all gradients at zero."""
    case = Case(2, 9, device)
    assert not any(gradient.any() for gradient in case.gradients(torch.float16, 0.0))


@pytest.mark.filterwarnings("ignore:overflow")
def test_gradients_that_explode_stay_finite(device: str) -> None:
    """Where all positions are alike, norms multiply gradients by 316 each; float16 takes its largest number then."""
    case = Case(2, 9, device, layers=3)
    case.features.fill_(0.5)
    case.place.zero_()
    for weight in case.parameters():
        weight.data *= 1e-3
    assert all(gradient.isfinite().all() for gradient in case.gradients(torch.float16))


def test_one_kernel_packs_what_pack_packs(device: str) -> None:
    """The weights of training are the search's, bit by bit, and turned matrices are turned."""
    from dact.kernels.dual_layer.forward import pack_once
    from dact.kernels.dual_layer.triton_impl import pack

    (layer,) = (DualLayer(*(x.detach() for x in each)) for each in Case(1, 5, device).encoder.weights())
    ours, theirs = pack_once(layer, HEADS, torch.float16), pack(layer, HEADS, torch.float16)
    for left, right in zip(ours.packed, theirs, strict=True):
        assert torch.equal(left, right)
    turned = theirs.project_SH4DK.transpose(3, 4).reshape(2, 256, 64)
    assert torch.equal(ours.back_SED, turned)


def test_autocast_chooses_the_kernels(device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Under autocast the encoder's layers are kernels: float32 aspects with gradients, half ones without."""
    from dact.kernels import dual_layer

    monkeypatch.setattr(dual_layer, "runs_triton", lambda _: True)
    case = Case(2, 11, device, layers=2)
    expected, gradients = case.truth()
    with torch.autocast(device, dtype=torch.float16, cache_enabled=False):
        learning = case.encoder(case.features, case.place)
        with torch.no_grad():
            acting = case.encoder(case.features, case.place)
    assert (learning.dtype, acting.dtype) == (torch.float32, torch.float16)
    assert distance(learning, expected) < 2e-3
    assert distance(acting, expected) < 2e-3
    actual = torch.autograd.grad(learning, case.parameters(), case.grad)
    assert_gradients(case, actual, gradients, torch.float16)


def test_long_tours_and_other_norms_take_the_modules(device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the kernels do not know goes through PyTorch, under autocast or not."""
    from dact.kernels import dual_layer

    monkeypatch.setattr(dual_layer, "runs_triton", lambda _: True)
    case = Case(1, 129, device)
    assert dual_layer.half_precision(case.features) is None
    assert case.encoder.has_kernels(128)
    assert not case.encoder.has_kernels(129)
    with torch.autocast(device, dtype=torch.bfloat16):
        assert dual_layer.half_precision(case.features) == torch.bfloat16
        assert case.encoder(case.features, case.place).shape == (2, 1, 129, 64)
        layer_norm = DualAspectEncoder(2, EncoderConfig(layers=1, norm="layer")).to(device)
        assert not layer_norm.has_kernels(5)
        assert layer_norm(case.features[:, :5], case.place[:5]).shape == (2, 1, 5, 64)
