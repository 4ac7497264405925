"""The policy as kernels: its weights laid out for them once, and a look that ends in a move instead of logits.

Encoders and tour lengths that the layer kernel does not know go through PyTorch, the rest is the same for all.
Shape letters: S aspects, B rows, N tour length, F features, D width, E = heads * D.
"""

import torch
from torch import Tensor

from dact.kernels.context import context_reference
from dact.kernels.dual_layer import DualLayer
from dact.kernels.launch import HAS_TRITON
from dact.kernels.pair_logits import Aggregation
from dact.kernels.pick_move import Feasible, fold_heads
from dact.policy import Policy
from dact.policy.decoder import Decoder
from dact.policy.encoders import DualAspectEncoder, Encoder
from dact.policy.encoders.base import FeedForward
from dact.policy.encoders.dual import DualAspectAttention

PRECISIONS = {
    "float16": (torch.float16, "tf32"),
    "bfloat16": (torch.bfloat16, "tf32"),
    "tf32": (torch.float32, "tf32"),
    "float32": (torch.float32, "tf32x3"),
}
"""The dtype of matrix products, and how those of float32 are rounded."""


def why_not(policy: Policy) -> str | None:
    """Why the kernels cannot pick this policy's moves; None if they can."""
    if not HAS_TRITON:
        return "Triton is not installed"
    from dact.kernels.pair_logits.triton_impl import fits

    decoder, width = policy.decoder.config, policy.config.encoder_config.dim
    heads = policy.encoder.aspects * decoder.heads
    if not fits(heads, width, decoder.hidden):
        return f"there is no kernel for {heads} heads over {width} numbers with {decoder.hidden} hidden units"
    return None


class FusedPolicy:
    """Weights are copied on first use; a policy that learns on needs a new one of these."""

    def __init__(self, policy: Policy, precision: str) -> None:
        self.policy = policy
        self.dtype, self.precision = PRECISIONS[precision]
        self._prepared = False

    @torch.no_grad()
    def _prepare(self) -> None:
        from dact.kernels.dual_layer.triton_impl import pack

        encoder, decoder = self.policy.encoder, self.policy.decoder
        self.layers = []
        if isinstance(encoder, DualAspectEncoder) and encoder.config.norm == "instance":
            self.layers = [pack(layer, encoder.config.heads, self.dtype) for layer in layers_of(encoder)]
        self.embed_FD = encoder.embed.weight.t().contiguous()
        scaled_SDE = decoder.query_SDE * decoder.config.head_dim**-0.5
        folded_SDE = fold_heads(scaled_SDE, decoder.key_SDE, decoder.config.heads)
        self.matrices = tuple(x.to(self.dtype) for x in (decoder.local_SDD, decoder.whole_SDD, folded_SDE))
        self.network = network_of(decoder)
        self._prepared = True

    def pick(
        self,
        features_BNF: Tensor,
        *,
        tour_BN: Tensor,
        last_move_B2: Tensor,
        draw_2B: Tensor | None,
        feasible: Feasible,
    ) -> Tensor:
        """A move_B2 per row, by two uniform numbers each or the most probable."""
        from dact.kernels.pick_move.triton_impl import pick_move_triton

        if not self._prepared:
            self._prepare()
        context_SBND, query_SBNE = self._context(self._encode(features_BNF))
        return pick_move_triton(
            query_SBNE,
            context_SBND,
            self.network,
            clip=self.policy.decoder.config.clip,
            tour_BN=tour_BN,
            last_move_B2=last_move_B2,
            draw_2B=draw_2B,
            feasible=feasible,
            precision=self.precision,
        )

    def _encode(self, features_BNF: Tensor) -> Tensor:
        """(S, B, N, D) aspects in the dtype of the precision."""
        from dact.kernels.dual_layer.triton_impl import dual_layer_triton, fits

        rows, size, _ = features_BNF.shape
        sizes, device = self.policy.encoder.config, features_BNF.device
        if not self.layers or not fits(size, sizes.dim, sizes.heads, sizes.hidden):
            half = self.dtype != torch.float32
            with torch.autocast(device.type, dtype=self.dtype if half else None, enabled=half, cache_enabled=False):
                return self.policy.encode(features_BNF).to(self.dtype)
        place_BND = self.policy.places(size, device).expand(rows, -1, -1)
        first, *others = self.layers
        x_SBND = dual_layer_triton(features_BNF, place_BND, first, precision=self.precision, embed_FD=self.embed_FD)
        for layer in others:
            x_SBND = dual_layer_triton(x_SBND[0], x_SBND[1], layer, precision=self.precision)
        return x_SBND

    def _context(self, x_SBND: Tensor) -> tuple[Tensor, Tensor]:
        """Contexts, and queries that score against them."""
        from dact.kernels.context.triton_impl import context_triton, fits

        if fits(x_SBND.shape[2], x_SBND.shape[3]):
            return context_triton(x_SBND, *self.matrices, precision=self.precision)
        return context_reference(x_SBND, *self.matrices)


def layers_of(encoder: Encoder) -> list[DualLayer]:
    """The weights of each attention module of a dual-aspect encoder and of the feed-forward one behind it."""
    assert isinstance(encoder, DualAspectEncoder)
    layers, modules = [], iter(encoder.layers)
    for attention, forward in zip(modules, modules, strict=True):
        assert isinstance(attention, DualAspectAttention)
        assert isinstance(forward, FeedForward)
        network = (forward.into_SDC, forward.into_bias_S1C, forward.out_SCD, forward.out_bias_S1D)
        layers.append(DualLayer(attention.packed_SDE, attention.out_SED, *network))
    return layers


def network_of(decoder: Decoder) -> Aggregation:
    """The aggregation network's weights."""
    layers = (decoder.first, decoder.second, decoder.third)
    return Aggregation(*(x.detach() for layer in layers for x in (layer.weight, layer.bias)))
