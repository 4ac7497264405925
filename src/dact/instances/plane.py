"""Points in a plane for instances that have none: from latitudes and longitudes, or from a distance matrix."""

from __future__ import annotations

import numpy as np

from dact.instances.arrays import FloatArray, IntArray
from dact.instances.errors import InputError, caution

FEW = 0.05
"""A share of the coordinates in degrees and minutes that may be misprints: ali535 of TSPLIB has three."""


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
    """GEO means degrees and minutes; minutes beyond 59 tell that the file has decimal degrees."""
    wrong: IntArray = np.argwhere(np.abs(coordinates - np.trunc(coordinates)) >= 0.6 - 1e-9)
    if len(wrong) >= max(1.0, FEW * coordinates.size):
        value = coordinates[tuple(wrong[0])]
        text = f"GEO reads {value:g} as degrees and minutes, but there are no such minutes"
        caution(place, f"{text}; decimal degrees belong into a CSV file with the columns lat,lon")


def plane_from_degrees(degrees: FloatArray) -> FloatArray:
    """Map latitudes and longitudes to (x, y), true to scale in the middle of the map and cut where nobody is."""
    latitude, longitude = degrees[:, 0], degrees[:, 1] % 360.0
    order = np.sort(longitude)
    gaps = np.diff(order, append=order[0] + 360.0)
    # The widest gap is left out, so that islands on both sides of the date line stay neighbours.
    first = order[(int(np.argmax(gaps)) + 1) % len(order)]
    middle = np.radians((latitude.min() + latitude.max()) / 2)
    return np.column_stack(((longitude - first) % 360.0 * np.cos(middle), latitude))


def plane_from_matrix(matrix: FloatArray) -> FloatArray:
    """Place N points so that their Euclidean distances follow the matrix as well as a plane allows (classical scaling).

    The doubly centred squared distances are the points' inner products, so their two leading
    eigenvectors, scaled by the roots of the eigenvalues, are the points (Torgerson 1952). Where the two directions
    differ, their mean counts.
    """
    squared = ((matrix + matrix.T) / 2) ** 2
    mean = squared.mean(axis=0)
    products = -0.5 * (squared - mean[:, None] - mean[None, :] + mean.mean())
    values, vectors = np.linalg.eigh(products)
    points = np.zeros((len(matrix), 2))
    for axis, column in enumerate(range(len(matrix) - 1, max(len(matrix) - 3, -1), -1)):
        vector = vectors[:, column] * np.sqrt(max(float(values[column]), 0.0))
        # An eigenvector's sign is arbitrary: make its largest entry positive.
        points[:, axis] = vector if vector[np.argmax(np.abs(vector))] >= 0 else -vector
    return points
