"""Points in a plane for instances that have none: from latitudes and longitudes, or from a distance matrix."""

from __future__ import annotations

import numpy as np

from dact.instances.arrays import FloatArray, IntArray
from dact.instances.errors import InputError, caution

FEW = 0.05
"""Share of invalid minutes that is tolerated as misprints: ali535 of TSPLIB has three."""
EXACT = 500
"""Largest matrix for which all eigenvectors are computed, in cubic time."""
BLOCK, ROUNDS = 4, 15
"""Block size and iterations of the Krylov method for larger matrices."""


def checked_degrees(coordinates: FloatArray) -> FloatArray:
    """Refuse latitudes and longitudes that are not on the globe."""
    for axis, (what, most) in enumerate((("latitude", 90.0), ("longitude", 180.0))):
        beyond = np.flatnonzero(np.abs(coordinates[:, axis]) > most)
        if len(beyond):
            value = coordinates[beyond[0], axis]
            raise InputError(f"the {what} {value:g} of row {beyond[0] + 1} is not between -{most:g} and {most:g}")
    return coordinates


def whole_degrees(coordinates: FloatArray) -> FloatArray:
    """Turn DDD.MM, degrees and minutes, into decimal degrees."""
    whole = np.trunc(coordinates)
    return np.asarray(whole + (coordinates - whole) / 0.6)


def warn_of_decimal_degrees(place: object, coordinates: FloatArray) -> None:
    """Warn if a GEO file has minutes above 59: it probably has decimal degrees instead of degrees and minutes."""
    wrong: IntArray = np.argwhere(np.abs(coordinates - np.trunc(coordinates)) >= 0.6 - 1e-9)
    if len(wrong) >= max(1.0, FEW * coordinates.size):
        value = coordinates[tuple(wrong[0])]
        text = f"GEO reads {value:g} as degrees and minutes, but there are no such minutes"
        caution(place, f"{text}; decimal degrees belong into a CSV file with the columns lat,lon")


def plane_from_degrees(degrees: FloatArray) -> FloatArray:
    """Map latitudes and longitudes to (x, y), true to scale at the centre and cut in the widest gap of longitudes."""
    latitude, longitude = degrees[:, 0], degrees[:, 1] % 360.0
    order = np.sort(longitude)
    gaps = np.diff(order, append=order[0] + 360.0)
    # Cut in the widest gap, so that nodes on both sides of the date line stay neighbours.
    first = order[(int(np.argmax(gaps)) + 1) % len(order)]
    middle = np.radians((latitude.min() + latitude.max()) / 2)
    return np.column_stack(((longitude - first) % 360.0 * np.cos(middle), latitude))


def plane_from_matrix(matrix: FloatArray) -> FloatArray:
    """Place N points so that their Euclidean distances follow the matrix as well as a plane allows (classical scaling).

    The doubly centred squared distances are the points' inner products, so their two leading
    eigenvectors, scaled by the roots of the eigenvalues, are the points (Torgerson 1952). Where the two directions
    differ, their mean counts. The time is linear in the number of entries of a large matrix.
    """
    products = matrix + matrix.T
    products *= 0.5
    products *= products
    mean = products.mean(axis=0)
    products -= mean[:, None]
    products -= mean[None, :]
    products += mean.mean()
    products *= -0.5
    values, vectors = np.linalg.eigh(products) if len(matrix) <= EXACT else _leading(products)
    points = np.zeros((len(matrix), 2))
    for axis in range(min(len(matrix), 2)):
        vector = vectors[:, -1 - axis] * np.sqrt(max(float(values[-1 - axis]), 0.0))
        # An eigenvector's sign is arbitrary: make its largest entry positive.
        points[:, axis] = vector if vector[np.argmax(np.abs(vector))] >= 0 else -vector
    return points


def _leading(symmetric: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return approximate eigenvalues, the largest last, and their vectors: those in a block Krylov space."""
    block = np.random.default_rng(0).standard_normal((len(symmetric), BLOCK))
    basis = np.zeros((len(symmetric), 0))
    for _ in range(ROUNDS):
        # Twice: after one pass, a block of mere rounding errors would not be orthogonal.
        for _ in range(2):
            block = np.linalg.qr(block - basis @ (basis.T @ block))[0]
        basis = np.hstack((basis, block))
        block = symmetric @ block
    values, mixes = np.linalg.eigh(basis.T @ symmetric @ basis)
    return values, basis @ mixes
