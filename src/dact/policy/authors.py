"""The authors' parameter names, so that their published checkpoints can be used here."""

from collections.abc import Mapping

import torch
from torch import Tensor

from dact.policy.critic import Critic
from dact.policy.policy import Policy, PolicyConfig, make_critic

Parameters = Mapping[str, Tensor]


def _pair(source: Parameters, node: str, place: str) -> Tensor:
    """Two (out, in) weights of linear layers as one (S, in, out) stack: node aspect, position aspect."""
    return torch.stack((source[node].t(), source[place].t()))


def _bias(source: Parameters, node: str, place: str) -> Tensor:
    return torch.stack((source[node], source[place])).unsqueeze(1)


def _heads(weight_HDK: Tensor) -> Tensor:
    """One matrix per head, side by side: (D, H * K)."""
    return weight_HDK.permute(1, 0, 2).flatten(1)


def _attention(source: Parameters, prefix: str) -> dict[str, Tensor]:
    def both(kind: str) -> Tensor:
        return torch.stack([_heads(source[f"{prefix}W_{kind}_{aspect}"]) for aspect in ("node", "pos")])

    count, _, width = source[f"{prefix}W_query_node"].shape
    value_node, value_pos = source[f"{prefix}W_val_node"], source[f"{prefix}W_val_pos"]
    out_node, out_pos = source[f"{prefix}W_out_node"], source[f"{prefix}W_out_pos"]
    # Their value heads, and the rows of each output head, belong to the node aspect's scores first and to the
    # position aspect's scores second; ours to an aspect's own scores first.
    value = torch.stack((_heads(value_node[:count]), _heads(value_pos[count:])))
    reference = torch.stack((_heads(value_node[count:]), _heads(value_pos[:count])))
    return {
        "packed_SDE": torch.cat((both("query"), both("key"), value, reference), dim=2),
        "out_SED": torch.stack(
            (
                torch.cat((out_node[:, :width].flatten(0, 1), out_node[:, width:].flatten(0, 1))),
                torch.cat((out_pos[:, width:].flatten(0, 1), out_pos[:, :width].flatten(0, 1))),
            )
        ),
    }


def _feed_forward(source: Parameters, prefix: str) -> dict[str, Tensor]:
    return {
        "into_SDC": _pair(source, f"{prefix}FF1.0.weight", f"{prefix}FF2.0.weight"),
        "into_bias_S1C": _bias(source, f"{prefix}FF1.0.bias", f"{prefix}FF2.0.bias"),
        "out_SCD": _pair(source, f"{prefix}FF1.2.weight", f"{prefix}FF2.2.weight"),
        "out_bias_S1D": _bias(source, f"{prefix}FF1.2.bias", f"{prefix}FF2.2.bias"),
    }


def _decoder(source: Parameters) -> dict[str, Tensor]:
    state = {
        "local_SDD": _pair(source, "decoder.project_node_node.weight", "decoder.project_node_pos.weight"),
        "whole_SDD": _pair(source, "decoder.project_graph_node.weight", "decoder.project_graph_pos.weight"),
    }
    for ours, theirs in (("query_SDE", "W_query"), ("key_SDE", "W_key")):
        each = [_heads(source[f"decoder.compater_{aspect}.{theirs}"]) for aspect in ("node", "pos")]
        state[ours] = torch.stack(each)
    for ours, theirs in (("first", "fc1"), ("second", "fc2"), ("third", "fc3")):
        for kind in ("weight", "bias"):
            state[f"{ours}.{kind}"] = source[f"decoder.value_head.{theirs}.{kind}"]
    # Their aggregation reads the position aspect's heads first.
    state["first.weight"] = state["first.weight"].roll(state["first.weight"].shape[1] // 2, dims=1)
    return state


def policy_from_authors(source: Parameters) -> Policy:
    """Our policy with the parameters of their actor."""
    config = PolicyConfig(features=source["embedder.embedder.weight"].shape[1])
    policy = Policy(config)
    state = {"encoder.embed.weight": source["embedder.embedder.weight"]}
    for layer in range(config.encoder_config.layers):
        attention = _attention(source, f"encoder.{layer}.MHA_sublayer.MHA.")
        forward = _feed_forward(source, f"encoder.{layer}.FFandNorm_sublayer.")
        state |= {f"encoder.layers.{2 * layer}.{name}": value for name, value in attention.items()}
        state |= {f"encoder.layers.{2 * layer + 1}.{name}": value for name, value in forward.items()}
    state |= {f"decoder.{name}": value for name, value in _decoder(source).items()}
    policy.load_state_dict(state)
    return policy


def critic_from_authors(source: Parameters, config: PolicyConfig) -> Critic:
    """Our critic with the parameters of theirs."""
    critic = make_critic(config)
    prefix = "encoder.0.0.module."
    packed = torch.cat([_heads(source[f"{prefix}W_{kind}"]) for kind in ("query", "key", "val")], dim=1)
    state = {"packed.weight": packed.t(), "out.weight": source[f"{prefix}W_out"].flatten(0, 1).t()}
    names = {
        "into": "encoder.0.2.module.0",
        "onward": "encoder.0.2.module.2",
        "first": "value_head.MLP.fc1",
        "second": "value_head.MLP.fc2",
        "third": "value_head.MLP.fc3",
    }
    for ours, theirs in names.items():
        for kind in ("weight", "bias"):
            state[f"{ours}.{kind}"] = source[f"{theirs}.{kind}"]
    state["local.weight"] = source["value_head.project_node.weight"]
    state["whole.weight"] = source["value_head.project_graph.weight"]
    critic.load_state_dict(state)
    return critic
