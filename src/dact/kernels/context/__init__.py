"""The first half of the decoder: the context of each position (itself and the max-pooled tour), and its queries.

context_s = x_s local_s + max_n(x_s) whole_s        per aspect s
query_s   = context_s query_matrix_s
"""

from dact.kernels.context.reference import context_reference
from dact.kernels.context.training import contexts_and_queries

__all__ = ["context_reference", "contexts_and_queries"]
