"""The encodings of 20 positions, cyclic beside absolute (Figure 5)."""

import numpy as np

from dact.instances.arrays import FloatArray
from dact.plotting.encodings import plot_components, plot_dot_products, plot_vectors, principal_components
from dact.plotting.panels import new_figure
from dact.policy.positions import PositionConfig, encoding
from dact.reproduce.base import Cell, Outcome, Picture, Request, Study, Table

POSITIONS, DIM = 20, 64
KINDS = {
    "cyclic": "cyclic",
    "cyclic_paper": "cyclic, Eq. 4 to the letter",
    "sinusoidal": "absolute",
}
COLUMNS = {
    "encoding": None,
    **dict.fromkeys(("neighbours, mean", "neighbours, least", "last and first", "opposite, mean"), 3),
    "variance, %": 1,
}
DRAWN = ("cyclic", "sinusoidal")
PANELS = {
    "vectors": (plot_vectors, "The encodings themselves"),
    "dot-products": (plot_dot_products, "Dot products of the encodings of two positions"),
    "components": (plot_components, "First two principal components"),
}


def make(request: Request) -> Outcome:
    """Three pictures, and a table of the similarities they show."""
    tables = {kind: encoding(POSITIONS, DIM, PositionConfig(kind=kind)).double().numpy() for kind in KINDS}
    pictures = []
    for name, (plot, title) in PANELS.items():
        figure = new_figure(10, 4.3)
        for kind, ax in zip(DRAWN, figure.subplots(1, 2), strict=True):
            plot(tables[kind], KINDS[kind], ax)
        pictures.append(Picture(name=name, title=title, figure=figure))
    return Outcome(
        outputs=(*pictures, likeness(tables)),
        instances=f"none: positions 0 to {POSITIONS - 1} of a tour, {DIM} dimensions",
        notes=(
            "The paper's claims, by eye: the cyclic encoding shows that head and tail of a tour are neighbours, the "
            "absolute one does not (5b), and its vectors lie on a closed curve (5c). In numbers, in the table: "
            "1 is the same direction, -1 the opposite one. `cyclic` is the authors' code, which smooths and centres "
            "its table; the paper's formula alone is beside it.",
        ),
    )


def likeness(tables: dict[str, FloatArray]) -> Table:
    """Cosines of neighbours, of head and tail, and of opposite positions."""
    rows: list[tuple[Cell, ...]] = []
    for kind, table_ND in tables.items():
        cosine_NN = _cosines(table_ND)
        around_N = np.array([cosine_NN[place, place + 1] for place in range(POSITIONS - 1)])
        opposite = float(np.mean([cosine_NN[place, place + POSITIONS // 2] for place in range(POSITIONS // 2)]))
        tail, share = float(cosine_NN[0, -1]), principal_components(table_ND)[1]
        rows.append((KINDS[kind], float(around_N.mean()), float(around_N.min()), tail, opposite, 100 * sum(share)))
    return Table(
        name="likeness",
        title="Cosines of the encodings of two positions, and the variance in two components",
        columns=COLUMNS,
        rows=rows,
    )


def _cosines(table_ND: FloatArray) -> FloatArray:
    unit_ND = table_ND / np.linalg.norm(table_ND, axis=1, keepdims=True)
    cosine_NN: FloatArray = unit_ND @ unit_ND.T
    return cosine_NN


STUDY = Study(
    name="encoding",
    what="Encodings of 20 positions: vectors, dot products, first two principal components, cyclic and absolute.",
    where="Figure 5",
    make=make,
)
