"""Attention weights of an encoder, for plots; the search does not use them.

Shape letters: L layers, S aspects, B rows, H heads, N tour length, D width, K head width.
"""

import torch
from torch import Tensor, nn

from dact.policy.encoders import ENCODERS
from dact.policy.encoders.base import project, split_heads
from dact.policy.encoders.dual import DualAspectAttention
from dact.policy.encoders.single import SelfAttention
from dact.policy.policy import Policy

TERMS = ("node-node", "position-position", "node-position", "position-node")


@torch.no_grad()
def attention_weights(policy: Policy, features_BNF: Tensor) -> Tensor:
    """(L, S, B, H, N, N): how much each position (row) attends to each other (column), by layer, aspect and head."""
    seen: list[Tensor] = []

    def keep(module: nn.Module, inputs: tuple[Tensor, ...]) -> None:
        assert isinstance(module, DualAspectAttention | SelfAttention)
        seen.append(_scores(module, inputs[0], inputs[0]).softmax(-1))

    modules = [each for each in policy.encoder.modules() if isinstance(each, DualAspectAttention | SelfAttention)]
    handles = [module.register_forward_pre_hook(keep) for module in modules]
    try:
        policy.encode(features_BNF)
    finally:
        for handle in handles:
            handle.remove()
    return torch.stack(seen)


@torch.no_grad()
def correlation_terms(policy: Policy, features_BNF: Tensor) -> dict[str, Tensor]:
    """The four parts of the first layer's scores, each (B, H, N, N), in a policy that adds its encodings (Appendix A).

    Their sum is what the softmax is taken of.
    """
    first = next((each for each in policy.encoder.modules() if isinstance(each, SelfAttention)), None)
    if first is None:
        added = [name for name, encoder in ENCODERS.items() if encoder.aspects == 1]
        raise ValueError(f"the policy keeps nodes and positions apart: its encoder is not one of {', '.join(added)}")
    node_BND: Tensor = policy.encoder.embed(features_BNF)
    place_BND = policy.places(features_BNF.shape[1], features_BNF.device).expand_as(node_BND)
    part = {"node": node_BND.unsqueeze(0), "position": place_BND.unsqueeze(0)}
    pairs = {term: term.split("-") for term in TERMS}
    return {term: _scores(first, part[asking], part[asked])[0] for term, (asking, asked) in pairs.items()}


def _scores(module: DualAspectAttention | SelfAttention, asking_SBND: Tensor, asked_SBND: Tensor) -> Tensor:
    """(S, B, H, N, N) scaled products of queries and keys, the first two parts of the packed projections."""
    dim, heads = asking_SBND.shape[3], module.heads
    query_SDD, key_SDD = module.packed_SDE[..., :dim], module.packed_SDE[..., dim : 2 * dim]
    query, key = (
        split_heads(project(x, weight), 1, heads).squeeze(3).transpose(2, 3)
        for x, weight in ((asking_SBND, query_SDD), (asked_SBND, key_SDD))
    )
    scores: Tensor = query @ key.transpose(-1, -2) * (dim // heads) ** -0.5
    return scores
