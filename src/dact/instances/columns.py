"""Columns of tables: what their headers mean."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass

from dact.instances.errors import InputError, caution, shown

HEADERS = {
    "name": ("name",),
    "x": ("x",),
    "y": ("y",),
    "lat": ("lat", "latitude"),
    "lon": ("lon", "lng", "longitude"),
    "demand": ("demand",),
}
"""Columns, and the headers that certainly mean them."""
ALIASES = {
    "name": (
        *("customer", "customername", "client", "company", "companyname", "stop", "store", "shop"),
        *("kunde", "kundenname", "firma", "firmenname", "cliente", "klant", "klient", "nazwa", "nom", "nombre", "nome"),
        *("naam", "customerid", "clientid", "id", "customernumber", "customerno", "kundennummer", "kundennr"),
        *("address", "adresse", "anschrift", "adres", "direccion", "dirección", "indirizzo", "place", "location"),
        *("city", "town", "ort", "stadt", "plaats", "miasto"),
    ),
    "x": ("xcoord", "xcoordinate", "coordx", "easting", "rechtswert", "xkoordinate", "koordinatex"),
    "y": ("ycoord", "ycoordinate", "coordy", "northing", "hochwert", "ykoordinate", "koordinatey"),
    "lat": (
        *("breitengrad", "geobreite", "latitud", "latitudine", "breedtegraad", "gpslat"),
        *("szerokośćgeograficzna", "szerokoscgeograficzna"),
    ),
    "lon": (
        *("long", "längengrad", "laengengrad", "geolänge", "geolaenge"),
        *("longitud", "longitudine", "lengtegraad", "gpslon", "długośćgeograficzna", "dlugoscgeograficzna"),
    ),
    "demand": (
        *("demands", "quantity", "qty", "load", "weight", "amount", "volume", "pallets", "boxes", "parcels"),
        *("menge", "bedarf", "nachfrage", "gewicht", "anzahl", "demande", "quantité", "quantite", "poids"),
        *("demanda", "cantidad", "peso", "domanda", "quantità", "vraag", "aantal", "hoeveelheid"),
        *("waga", "ilość", "ilosc"),
    ),
}
"""Headers that probably mean a column, used where none is certain. Those of names: the likelier, the earlier."""
TOGETHER = (
    *(("breite", "länge"), ("breite", "laenge"), ("breedte", "lengte")),
    *(("szerokość", "długość"), ("szerokosc", "dlugosc")),
)
"""Headers that mean lat and lon only if both are there and no others do: they are also the width and length of a
thing."""
HEIGHTS = ("höhe", "hoehe", "tiefe", "hoogte", "diepte", "wysokość", "wysokosc", "głębokość", "glebokosc")
"""Headers beside which they may be the sizes of a thing."""
PAIRS = (("x", "y"), ("lat", "lon"))
LONGEST = 60
"""Characters of a header that are looked at."""
_UNITS = re.compile(r"[(\[].*?[)\]]")
_LOAD_UNITS = re.compile(
    r"(?<=[^\W_])[\s_]+(kg|g|t|to|tonnen|tons|tonnes|lbs?|l|liter|litres?|m3|m³|cbm|stk|stück|stueck|pcs)\.?$"
)
_DEGREES = re.compile(r"[(\[] ?° ?[)\]]")
_FILL = re.compile(r"[\s_.\-#]+")


@dataclass(frozen=True, kw_only=True)
class Columns:
    """Where each known column is, and the headers that are not used."""

    places: dict[str, int]
    read_as: dict[str, str]
    """Headers that only probably mean a column, and which."""
    unused: list[str]

    @property
    def pair(self) -> tuple[str, str] | None:
        """The coordinates, if there are any."""
        pairs = [pair for pair in PAIRS if set(pair) <= self.places.keys()]
        if len(pairs) > 1:
            raise InputError("has the columns x, y and the columns lat, lon: leave out those that do not count")
        return pairs[0] if pairs else None

    def tell(self, place: object) -> None:
        """Warn about columns that may mean something else than what is made of them."""
        if self.read_as:
            parts = [f"{shown(header)} as {column}" for header, column in self.read_as.items()]
            caution(place, f"columns are read by their likely meaning: {', '.join(parts)}")
        if self.unused:
            listed = ", ".join(shown(header) for header in self.unused[:5])
            listed += f" and {len(self.unused) - 5} more" if len(self.unused) > 5 else ""
            single = len(self.unused) == 1
            text = f"the column {listed} is not used" if single else f"the columns {listed} are not used"
            doubt = "" if "demand" in self.places else "; no column is called demand, so this is one tour of all rows"
            caution(place, text + doubt)


def find_columns(headers: Sequence[str], distinct: Callable[[int], bool] = lambda _: True) -> Columns:
    """Find the known columns. In doubt between two headers, InputError; of several that may be names, one is taken
    whose values are `distinct` (told by its place), if there is any.
    """
    words = [_word(header) for header in headers]
    places: dict[str, int] = {}
    read_as: dict[str, str] = {}
    for column, certain in HEADERS.items():
        found = [place for place, word in enumerate(words) if word in certain]
        if len(found) > 1:
            raise InputError(f"the header names the column {column} twice")
        likely = [] if found else _likely(column, headers)
        if likely:
            if len(likely) > 1 and column != "name":
                both = " and ".join(shown(headers[place]) for place in likely[:2])
                raise InputError(f"the columns {both} may both mean {column}: call one of them {column}")
            found = [place for place in likely if len(likely) > 1 and distinct(place)][:1] or likely[:1]
            read_as[headers[found[0]]] = column
        if found:
            places[column] = found[0]
    if not any(places.keys() & {*pair} for pair in PAIRS):
        together = _together(headers)
        places |= together
        read_as |= {headers[place]: column for column, place in together.items()}
    unused = [header for place, header in enumerate(headers) if header and place not in places.values()]
    return Columns(places=places, read_as=read_as, unused=unused)


def is_customers(headers: Sequence[str]) -> bool:
    """Do these headers belong to a table of customers?"""
    words = {_word(header) for header in headers}
    known = any(words & {*HEADERS[column]} or _likely(column, headers) for column in HEADERS if column != "name")
    return known or bool(_together(headers))


def is_header_of_customers(cells: Sequence[str]) -> bool:
    """Do these cells name coordinates, or names and demands?"""
    with suppress(InputError):
        columns = find_columns(cells)
        return columns.pair is not None or {"name", "demand"} <= columns.places.keys()
    return False


def _likely(column: str, headers: Sequence[str]) -> list[int]:
    """Where the headers are that probably mean a column, the likelier first. A load may have a unit behind it."""
    known = {word: rank for rank, word in enumerate(ALIASES[column])}
    words = [_word(header) for header in headers]
    if column == "demand" and not known.keys() & {*words}:
        known |= dict.fromkeys(HEADERS[column], -1)
        words = [_word(_LOAD_UNITS.sub("", header[:LONGEST].casefold())) for header in headers]
    return [place for _, place in sorted((known[word], place) for place, word in enumerate(words) if word in known)]


def _together(headers: Sequence[str]) -> dict[str, int]:
    """Where latitude and longitude are, by headers that mean them only together; a unit must be that of degrees."""
    if {_word(header) for header in headers} & {*HEIGHTS}:
        return {}
    words = [_FILL.sub("", _DEGREES.sub("", header[:LONGEST].casefold())) for header in headers]
    pairs = [pair for pair in TOGETHER if all(words.count(word) == 1 for word in pair)]
    return {column: words.index(word) for column, word in zip(PAIRS[1], pairs[0], strict=True)} if pairs else {}


def _word(header: str) -> str:
    """A header in lower case without units in brackets, spaces, points, dashes and '#'."""
    return _FILL.sub("", _UNITS.sub("", header[:LONGEST].casefold()))
