"""Reference for moves and descents in plain PyTorch: all candidates of all rows at once, no loop over nodes.

A move exchanges two stretches A and B of a tour, reversed or not; one of them may be empty. With the nodes M between
them, A, M, B becomes B, M, A.

It is six numbers: the places [a, a + la) and [b, b + lb), a + la <= b, are exchanged, and two flags say which of them
is turned around. Where there are no depots, places run on around the end of the tour.

Shape letters: R rows, N positions, U customers, W partners of a customer, V codes, C = U W V candidates;
X any shape.
"""

import time
from typing import NamedTuple

import torch
from torch import Tensor

from dact.kernels.descent.job import Terrain
from dact.kernels.descent.moves import EXCHANGE, TWO_OPT
from dact.kernels.descent.reference_view import View, take

NO_GAIN = -torch.inf


class Candidates(NamedTuple):
    """Every candidate of every row, ordered by node, partner and code."""

    move_RC6: Tensor
    gain_RC: Tensor
    """float64: by how much the tour becomes shorter; -inf where a move does not exist or overloads a vehicle."""


class Descent(NamedTuple):
    """Result of descents."""

    tour_RN: Tensor
    moves_R: Tensor
    """How many moves were made."""
    optimal_R: Tensor
    """Is it a local optimum? False if the deadline came first."""


def candidates_reference(
    terrain: Terrain, tour_RN: Tensor, source_R: Tensor, codes: tuple[int, ...], price_R: Tensor | None = None
) -> Candidates:
    """All moves that the codes name for customers and their neighbours, and what they gain. With a price for each unit
    of load beyond the capacity, moves may overload vehicles."""
    view = View(terrain, tour_RN, source_R)
    u_RUW, v_RUW = _partners(view)
    p_RUW, q_RUW = take(view.position_RN, u_RUW), take(view.position_RN, v_RUW)
    named, gains = [], []
    for code in codes:
        move_RUW6, exists_RUW = _named(view, p_RUW, q_RUW, code)
        exists_RUW = exists_RUW & (u_RUW != v_RUW)
        # Moves that do not exist become moves that change nothing.
        move_RUW6 = torch.where(exists_RUW.unsqueeze(3), move_RUW6, move_RUW6.new_tensor([1, 0, 1, 0, 0, 0]))
        named.append(move_RUW6)
        then_RUW, more_RUW = _overload(view, move_RUW6)
        gain_RUW = _gain(view, move_RUW6)
        if price_R is None:
            exists_RUW = exists_RUW & (then_RUW == 0)
        else:
            gain_RUW = gain_RUW - price_R.view(-1, 1, 1) * more_RUW
        gains.append(gain_RUW.masked_fill(~exists_RUW, NO_GAIN))
    return Candidates(torch.stack(named, dim=3).flatten(1, 3), torch.stack(gains, dim=3).flatten(1))


def best_moves_reference(
    terrain: Terrain, tour_RN: Tensor, source_R: Tensor, codes: tuple[int, ...], price_R: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """(R,) what the best candidate gains, -inf if there is none; and (R, 6) that move, of equals the first."""
    move_RC6, gain_RC = candidates_reference(terrain, tour_RN, source_R, codes, price_R)
    gain_R, which_R = gain_RC.max(1)
    return gain_R, move_RC6[torch.arange(len(which_R), device=which_R.device), which_R]


def make_moves_reference(tour_RN: Tensor, move_R6: Tensor) -> Tensor:
    """Tours after one move a row."""
    a, la, b, lb, turn_a, turn_b = move_R6.unsqueeze(1).unbind(2)
    size, between = tour_RN.shape[1], b - a - la
    span = la + between + lb
    # Places counted from the first one that changes: B comes first, then what lies between, then A, then the rest.
    k_RN = (torch.arange(size, device=tour_RN.device) - a) % size
    from_RN = torch.where(k_RN < span, torch.where(turn_a == 1, span - 1 - k_RN, k_RN - lb - between), k_RN)
    from_RN = torch.where(k_RN < lb + between, k_RN - lb + la, from_RN)
    from_RN = torch.where(k_RN < lb, b - a + torch.where(turn_b == 1, lb - 1 - k_RN, k_RN), from_RN)
    return tour_RN.gather(1, (from_RN + a) % size)


def descend_reference(
    terrain: Terrain, tour_RN: Tensor, source_R: Tensor, codes: tuple[int, ...], deadline: float | None = None
) -> Descent:
    """Make the best move of each row until none gains more than `least_I`.

    Stops when `time.perf_counter()` passes the deadline; tours are feasible and no worse at any time.
    """
    tour_RN, least_R = tour_RN.long(), terrain.least_I[source_R.long()].double()
    moves_R = torch.zeros(len(tour_RN), dtype=torch.long, device=tour_RN.device)
    optimal_R = torch.zeros_like(moves_R, dtype=torch.bool)
    while not bool(optimal_R.all()) and (deadline is None or time.perf_counter() < deadline):
        gain_R, move_R6 = best_moves_reference(terrain, tour_RN, source_R, codes)
        optimal_R = gain_R <= least_R
        tour_RN = torch.where(optimal_R.unsqueeze(1), tour_RN, make_moves_reference(tour_RN, move_R6))
        moves_R += ~optimal_R
    return Descent(tour_RN, moves_R, optimal_R)


def _partners(view: View) -> tuple[Tensor, Tensor]:
    """(R, U, W) customers and the nodes they are tried with: neighbours; last, the first depot with an empty route.

    A customer is its own partner where there is none.
    """
    terrain, rows, device = view.terrain, len(view.tour_RN), view.tour_RN.device
    u_U = torch.arange(terrain.depots, view.size, device=device)
    v_RUW = u_U.expand(rows, len(u_U), -1)
    if terrain.near_INK.shape[2]:
        v_RUW = terrain.near_INK.long()[view.source_R][:, terrain.depots :]
    if terrain.depots:
        empty_RD = view.end_RD == view.start_RD + 1
        depot_R1 = view.node(view.start_RD.gather(1, empty_RD.long().argmax(1, keepdim=True)))
        depot_RU = torch.where(empty_RD.any(1, keepdim=True), depot_R1, u_U)
        v_RUW = torch.cat((v_RUW, depot_RU.unsqueeze(2)), dim=2)
    return u_U.view(1, -1, 1).expand_as(v_RUW), v_RUW


def _named(view: View, p: Tensor, q: Tensor, code: int) -> tuple[Tensor, Tensor]:
    """The moves that a code names for the nodes at places p and q, and where there is one."""
    kind, before = code & 3, bool(code >> 5 & 1)
    if kind == EXCHANGE:
        return _exchange(view, p, q, code)
    return _two_opt(view, p, q, before) if kind == TWO_OPT else _two_opt_star(view, p, q, before)


def _exchange(view: View, p: Tensor, q: Tensor, code: int) -> tuple[Tensor, Tensor]:
    """The stretch that begins (or ends) with u comes to stand behind (or before) v, u beside v; the nodes that stood
    there come back in its place."""
    length, other = code >> 2 & 3, code >> 6 & 3
    backwards, before, turned = (bool(code >> bit & 1) for bit in (4, 5, 8))
    first_u, first_v = (p - length + 1 if backwards else p), (q - other if before else q + 1)
    # u is the end of its stretch that comes to lie beside v.
    turn_u = backwards != before if length > 1 else False
    if view.terrain.depots:
        exists = _within(view, first_u, length, view.route(p)) & _within(view, first_v, other, view.route(q))
        apart = (first_u + length <= first_v) | (first_v + other <= first_u)
        exists = exists & apart & ((q < first_u) | (q >= first_u + length))
        return _ordered(first_u, length, turn_u, first_v, other, turned), exists
    distance = (first_v - first_u) % view.size
    # Put right before itself a stretch stays where it is.
    distance = torch.where((distance == 0) & (other == 0), length, distance)
    exists = ((q - first_u) % view.size >= length) & (distance >= length) & (distance + other <= view.size)
    # Around a circle, there are nodes on both sides between the stretches: the fewer of them move along.
    there, back = distance - length, view.size - distance - other
    u, v = first_u % view.size, first_v % view.size
    near_side = _moves(u, length, u + length + there, other, turn_u, turned)
    far_side = _moves(v, other, v + other + back, length, turned, turn_u)
    return torch.where((there <= back).unsqueeze(-1), near_side, far_side), exists


def _two_opt(view: View, p: Tensor, q: Tensor, before: bool) -> tuple[Tensor, Tensor]:
    """u and v become neighbours, and so do the nodes behind (or before) them."""
    if not view.terrain.depots:
        a, length = (p if before else p + 1) % view.size, (q - p) % view.size
        return _moves(a, length, a + length, 0, True, False), torch.ones_like(p, dtype=torch.bool)
    low, high = torch.minimum(p, q), torch.maximum(p, q)
    one_route = view.route(p) == view.route(q)
    cut_low, cut_high = (low, high) if before else (low + 1, high + 1)
    # In two routes, the tail of the first and the head of the second change places, both turned.
    head = view.start(view.route(high)) + 1
    behind_a = torch.where(one_route, cut_high, view.end(view.route(low)))
    b = torch.where(one_route, cut_high, head)
    moves = _moves(cut_low, behind_a - cut_low, b, cut_high - b, True, True)
    return moves, (q >= view.start(view.route(q)) + 1) if before else torch.ones_like(one_route)


def _two_opt_star(view: View, p: Tensor, q: Tensor, before: bool) -> tuple[Tensor, Tensor]:
    """The rest of v's route, with v, comes to stand behind u, and what was behind u takes its place; or the same with
    u and v changed over."""
    if not view.terrain.depots:
        return _moves(p, 0, p, 0, False, False), torch.zeros_like(p, dtype=torch.bool)
    route_u, route_v = view.route(p), view.route(q)
    first_u, first_v = (p, q + 1) if before else (p + 1, q)
    moves = _ordered(first_u, view.end(route_u) - first_u, False, first_v, view.end(route_v) - first_v, False)
    return moves, (route_u != route_v) & (first_v > view.start(route_v))


def _within(view: View, first: Tensor, count: int, route: Tensor) -> Tensor:
    """Do these places lie among the customers of the route, or, for none, may something be put in there?"""
    return (first > view.start(route)) & (first + count <= view.end(route))


def _ordered(s: Tensor, ls: Tensor | int, turn_s: bool, t: Tensor, lt: Tensor | int, turn_t: bool) -> Tensor:
    """The exchange of the stretches [s, s + ls) and [t, t + lt), whichever comes first."""
    forwards, backwards = _moves(s, ls, t, lt, turn_s, turn_t), _moves(t, lt, s, ls, turn_t, turn_s)
    return torch.where((t + lt <= s).unsqueeze(-1), backwards, forwards)


def _moves(a: Tensor, *others: Tensor | int) -> Tensor:
    """(..., 6): numbers for all, or one for each."""
    return torch.stack([a, *(torch.as_tensor(x, device=a.device).to(a.dtype).expand_as(a) for x in others)], dim=-1)


def _gain(view: View, move_RX6: Tensor) -> Tensor:
    """By how much moves shorten the tour."""
    a, la, b, lb, turn_a, turn_b = move_RX6.unbind(-1)
    straight = torch.zeros_like(a)
    between = (a + la, b - a - la, straight)
    before, behind = view.node(a - 1), view.node(b + lb)
    now = _driven(view, before, ((a, la, straight), between, (b, lb, straight)), behind)
    return now - _driven(view, before, ((b, lb, turn_b), between, (a, la, turn_a)), behind)


def _driven(view: View, here: Tensor, stretches: tuple[tuple[Tensor, Tensor, Tensor], ...], behind: Tensor) -> Tensor:
    """What it costs to drive from a node along stretches (first place, how many, turned) to another node.

    The lengths of the stretches are left out, which differ only where they are turned.
    """
    total = torch.zeros_like(here, dtype=torch.float64)
    for first, count, turned in stretches:
        ends = view.node(first), view.node(first + count - 1)
        enters, leaves = torch.where(turned == 1, ends[1], ends[0]), torch.where(turned == 1, ends[0], ends[1])
        drive = view.length(here, enters) + view.turning(first, count) * turned
        total = total + torch.where(count > 0, drive, 0.0)
        here = torch.where(count > 0, leaves, here)
    return total + view.length(here, behind)


def _overload(view: View, move_RX6: Tensor) -> tuple[Tensor, Tensor]:
    """How far both routes exceed the capacity after a move, together, and by how much that is more than before."""
    a, la, b, lb, _, _ = move_RX6.unbind(-1)
    if not view.terrain.depots:
        return torch.zeros_like(a), torch.zeros_like(a)
    route_a, route_b = view.route(a - 1), view.route(b - 1)
    room = view.terrain.capacity_I.long()[view.source_R].view(-1, *(1,) * (a.dim() - 1))
    more = view.load(b, b + lb) - view.load(a, a + la)
    load_a, load_b = (view.load(view.start(route), view.end(route)) for route in (route_a, route_b))
    then = (load_a + more - room).clamp(min=0) + (load_b - more - room).clamp(min=0)
    now = (load_a - room).clamp(min=0) + (load_b - room).clamp(min=0)
    elsewhere = route_a != route_b
    return then * elsewhere, (then - now) * elsewhere
