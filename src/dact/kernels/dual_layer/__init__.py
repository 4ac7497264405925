"""One encoder layer of both aspects: dual-aspect attention, norm, feed-forward, norm (Eqs. 5-10).

    scores_s = query_s key_s^T / sqrt(K)         per aspect s and head
    own_s, other_t = softmax(scores_s) (value_s, reference_t)        t: the other aspect
    y_s = norm(x_s + [own_s, other_s] out_s)
    z_s = norm(y_s + relu(y_s into_s + into_bias_s) onward_s + onward_bias_s)

`norm` has one mean and one unbiased variance over all positions and features of a row's aspect.
"""

from dact.kernels.dual_layer.reference import DualLayer, dual_layer_reference

__all__ = ["DualLayer", "dual_layer_reference"]
