"""What the kernels make of the encoder and the context, against the policy's own modules."""

import os
from importlib.util import find_spec

import pytest
import torch

if not torch.cuda.is_available() and find_spec("triton"):
    os.environ["TRITON_INTERPRET"] = "1"

from dact.policy import EncoderConfig, Policy, PolicyConfig
from dact.search.engines.fused_policy import FusedPolicy

pytest.importorskip("triton")
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


@pytest.mark.parametrize("size", [20, 70])
@torch.inference_mode()
def test_encoder(size: int) -> None:
    """Aspects are the policy's, whether a tour takes one program or several, and follow what it learns."""
    torch.manual_seed(0)
    policy = Policy(PolicyConfig(features=2, encoder_config=EncoderConfig(layers=2))).to(DEVICE)
    fused, features_BNF = FusedPolicy(policy, "float32"), torch.rand(1, size, 2, device=DEVICE)
    for _ in range(2):
        torch.testing.assert_close(
            fused._encode(features_BNF, as_trained=False), policy.encode(features_BNF), atol=1e-4, rtol=1e-4
        )
        for weight in policy.parameters():
            weight.mul_(0.9)
        fused.refresh()
