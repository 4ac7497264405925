"""The policy as kernels: weights in the layout of the kernels, and a forward pass that returns a move, not logits.

Encoders without kernels run in PyTorch; the decoder is the same for all.
Shape letters: S aspects, B rows, N tour length, F features, D width, E = heads * D.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import torch
from torch import Tensor

from dact.kernels.context import context_reference
from dact.kernels.dual_layer.constants import PlaceConstants, place_constants
from dact.kernels.launch import MULTIPROCESSORS, power_of_two
from dact.kernels.pair_logits import Aggregation
from dact.kernels.pick_move import Feasible, Tabu, fold_heads
from dact.policy import Policy
from dact.policy.encoders import DualAspectEncoder
from dact.search.engines.precision import find_precision

if TYPE_CHECKING:
    from dact.kernels.dual_layer.triton_impl import PackedLayer


class FusedWeights(NamedTuple):
    """A policy's weights as the kernels read them."""

    layers: "list[PackedLayer]"
    embed_FD: Tensor
    matrices: tuple[Tensor, ...]
    """Of the decoder: local, whole, and queries with the keys folded in."""
    network: Aggregation


class FusedPolicy:
    """Weights are converted at first use; call `refresh` after the policy has been trained."""

    def __init__(self, policy: Policy, precision: str, *, steady: bool = False) -> None:
        self.policy = policy
        self.dtype, self.precision = find_precision(precision)
        self.steady = steady
        self._weights: FusedWeights | None = None
        self._constants: dict[tuple[int, int], PlaceConstants] = {}

    @torch.inference_mode()
    def refresh(self) -> None:
        """Convert the current weights in place, so that captured graphs use them."""
        if self._weights is None:
            return
        for old, new in zip(_tensors(self._weights), _tensors(self._laid_out()), strict=True):
            old.copy_(new)
        for (size, padded), constants in self._constants.items():
            for old, new in zip(constants, self._make_constants(size, padded), strict=True):
                old.copy_(new)

    @property
    def weights(self) -> FusedWeights:
        """As of the first use or the last `refresh`."""
        if self._weights is None:
            self._weights = self._laid_out()
        return self._weights

    @torch.no_grad()
    def _laid_out(self) -> FusedWeights:
        from dact.kernels.dual_layer.triton_impl import pack

        encoder, decoder = self.policy.encoder, self.policy.decoder
        layers = []
        if isinstance(encoder, DualAspectEncoder) and encoder.config.norm == "instance":
            layers = [pack(layer, encoder.config.heads, self.dtype) for layer in encoder.weights()]
        scaled_SDE = decoder.query_SDE * decoder.config.head_dim**-0.5
        folded_SDE = fold_heads(scaled_SDE, decoder.key_SDE, decoder.config.heads)
        matrices = tuple(x.to(self.dtype) for x in (decoder.local_SDD, decoder.whole_SDD, folded_SDE))
        network = Aggregation(*(x.detach() for x in decoder.network()))
        return FusedWeights(layers, encoder.embed.weight.t().contiguous(), matrices, network)

    def pick(
        self,
        features_BNF: Tensor,
        *,
        tour_BN: Tensor,
        last_move_B2: Tensor,
        draw_2B: Tensor | None,
        feasible: Feasible,
        log_prob_B: Tensor | None = None,
        tabu: Tabu | None = None,
    ) -> Tensor:
        """A move_B2 per row, by two uniform numbers each or the most probable.

        Where log-probabilities are asked for, they are for an update to compare with: layers then round exactly as its
        own do, and nothing that is known of the places beforehand is used.
        """
        from dact.kernels.pick_move.triton_impl import pick_move_triton

        context_SBND, query_SBNE = self._context(self._encode(features_BNF, as_trained=log_prob_B is not None))
        return pick_move_triton(
            query_SBNE,
            context_SBND,
            self.weights.network,
            clip=self.policy.decoder.config.clip,
            tour_BN=tour_BN,
            last_move_B2=last_move_B2,
            draw_2B=draw_2B,
            feasible=feasible,
            log_prob_B=log_prob_B,
            tabu=tabu,
            precision=self.precision,
        )

    def _encode(self, features_BNF: Tensor, as_trained: bool) -> Tensor:
        """(S, B, N, D) aspects in the dtype of the precision."""
        from dact.kernels.dual_layer import triton_impl as dual_layer
        from dact.kernels.tiled_layer import triton_impl as tiled_layer

        rows, size, _ = features_BNF.shape
        sizes = self.policy.encoder.config
        shape = (size, sizes.dim, sizes.heads, sizes.hidden)
        has_kernels = bool(self.weights.layers)
        if has_kernels and dual_layer.fits(*shape) and (as_trained or not self._better_tiled(rows, size)):
            return self._encode_whole(features_BNF, shortcuts=not as_trained)
        if has_kernels and tiled_layer.fits(*shape):
            return self._encode_tiled(features_BNF)
        half = self.dtype != torch.float32
        kind = features_BNF.device.type
        with torch.autocast(kind, dtype=self.dtype if half else None, enabled=half, cache_enabled=False):
            return self.policy.encode(features_BNF).to(self.dtype)

    def _better_tiled(self, rows: int, size: int) -> bool:
        """Is a layer faster in tiles than in a program per row?

        Programs of more than 64 positions work on 128. On an H200 that is slower than tiles for 70 positions and faster
        for 100 and 120; and tiles occupy all of it where there are few rows.
        """
        return 64 < size <= 96 or (size > 64 and rows < MULTIPROCESSORS and not self.steady)

    def _encode_whole(self, features_BNF: Tensor, shortcuts: bool) -> Tensor:
        """A kernel per layer, for tours that fit one program."""
        from dact.kernels.dual_layer.triton_impl import dual_layer_triton

        rows, size, _ = features_BNF.shape
        place_BND = self.policy.places(size, features_BNF.device).expand(rows, -1, -1)
        constants = self._place_constants(size, power_of_two(size)) if shortcuts else None
        first, *others = self.weights.layers
        x_SBND = dual_layer_triton(
            features_BNF,
            place_BND,
            first,
            precision=self.precision,
            embed_FD=self.weights.embed_FD,
            constants=constants,
        )
        for layer in others:
            x_SBND = dual_layer_triton(x_SBND[0], x_SBND[1], layer, precision=self.precision)
        return x_SBND

    def _encode_tiled(self, features_BNF: Tensor) -> Tensor:
        """Three kernels per layer, for longer tours."""
        from dact.kernels.tiled_layer import triton_impl as tiled

        size, others, embed_FD = features_BNF.shape[1], self.weights.layers, self.weights.embed_FD
        if size <= tiled.WHOLE:
            first, *others = self.weights.layers
            constants = self._place_constants(size, sum(tiled.pieces(size)))
            x_SBND = tiled.first_layer_triton(features_BNF, constants, first, embed_FD, precision=self.precision)
        else:
            place_ND = self.policy.places(size, features_BNF.device)
            x_SBND = tiled.enter_triton(features_BNF, place_ND, embed_FD, self.dtype)
        for layer in others:
            x_SBND = tiled.tiled_layer_triton(x_SBND, layer, precision=self.precision)
        return x_SBND

    def _place_constants(self, size: int, padded: int) -> PlaceConstants:
        """The position aspect's part of the first layer, computed once per length."""
        if (size, padded) not in self._constants:
            self._constants[size, padded] = self._make_constants(size, padded)
        return self._constants[size, padded]

    def _make_constants(self, size: int, padded: int) -> PlaceConstants:
        encoder = self.policy.encoder
        assert isinstance(encoder, DualAspectEncoder)
        layer, place_ND = encoder.weights()[0], self.policy.places(size, encoder.embed.weight.device)
        return place_constants(place_ND, layer, heads=encoder.config.heads, padded=padded, dtype=self.dtype)

    def _context(self, x_SBND: Tensor) -> tuple[Tensor, Tensor]:
        """Contexts, and queries that score against them."""
        from dact.kernels.context.triton_impl import context_triton, fits

        if fits(x_SBND.shape[3]):
            return context_triton(x_SBND, *self.weights.matrices, precision=self.precision)
        return context_reference(x_SBND, *self.weights.matrices)


def _tensors(weights: FusedWeights) -> Iterator[Tensor]:
    """Tensors that are copies of the policy's; the aggregation network uses the policy's own."""
    for layer in weights.layers:
        yield from layer
    yield weights.embed_FD
    yield from weights.matrices
