"""A function without arguments, called or replayed: on a GPU its kernels are captured once as a CUDA graph."""

from collections.abc import Callable

import torch

from dact.search import capturing, rehearse

WARM_UP_CALLS = 3
"""PyTorch asks for a few calls on a side stream before a capture: compilation, autotuning, workspaces, lazy state."""

Body = Callable[[], None]


def captured(body: Body, *, shared: bool = False) -> Body:
    """A replay of the body. The body may not talk to the host, and must read and write the same tensors each time.

    The calls made here (3 to warm up, and none that counts in the capture itself) change those tensors, parameters
    included; the caller puts them back. `shared`: other threads may use CUDA during the capture.
    """
    room = rehearse(body, WARM_UP_CALLS)
    graph = torch.cuda.CUDAGraph()
    with capturing(graph, room, capture_error_mode="thread_local" if shared else "global"):
        body()
    return graph.replay
