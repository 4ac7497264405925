"""A picture of a distance matrix: classical multidimensional scaling to the plane."""

from __future__ import annotations

import numpy as np

from dact.instances.arrays import FloatArray


def plane_from_matrix(matrix: FloatArray) -> FloatArray:
    """Place N points so that their Euclidean distances follow the matrix as well as a plane allows.

    The doubly centred squared distances are the points' inner products, so their two leading
    eigenvectors, scaled by the roots of the eigenvalues, are the points (Torgerson 1952).
    """
    squared = matrix**2
    mean = squared.mean(axis=0)
    products = -0.5 * (squared - mean[:, None] - mean[None, :] + mean.mean())
    values, vectors = np.linalg.eigh(products)
    points = np.zeros((len(matrix), 2))
    for axis, column in enumerate(range(len(matrix) - 1, max(len(matrix) - 3, -1), -1)):
        vector = vectors[:, column] * np.sqrt(max(float(values[column]), 0.0))
        # An eigenvector's sign is arbitrary: make its largest entry positive.
        points[:, axis] = vector if vector[np.argmax(np.abs(vector))] >= 0 else -vector
    return points
