// SWAP*: two customers of two routes change over, each to the cheapest place in the other's route. Only routes that
// have changed since the last such pass are tried, with the routes of their customers' neighbours.

#define EXCHANGES_A_LOOK 32  // which take about as long as a look

enum { CHANGED = 1, TRIED = 2 };  // states of a route: changed since it was tried; tried with all its partners

DEVICE float detour(const Row& row, int before, int node, int behind) {
    return distance(row, before, node) + distance(row, node, behind) - distance(row, before, behind);
}

// Two routes and the places of their customers, counted from those of the first.
struct Pair {
    int ra, rb, first_a, first_b, la, lb;
};

DEVICE Pair pair_of(const Row& row, int ra, int rb) {
    int first_a = row.start[ra] + 1, first_b = row.start[rb] + 1;
    return {ra, rb, first_a, first_b, route_end(row, ra) - first_a, route_end(row, rb) - first_b};
}

// For each customer of either route the cheapest insertions into the other: costs, and the nodes they follow.
DEVICE void list_places(Row& row, const Pair& pair) {
    SYNC();
    for (int k = row.lane; k < pair.la + pair.lb; k += LANES) {
        int p = k < pair.la ? pair.first_a + k : pair.first_b + k - pair.la, host = k < pair.la ? pair.rb : pair.ra;
        int u = row.tour[p], a0 = TAKEN, a1 = TAKEN, a2 = TAKEN, here = row.tour[row.start[host]];
        float c0 = FORBIDDEN, c1 = FORBIDDEN, c2 = FORBIDDEN, to_here = distance(row, here, u);
        for (int q = row.start[host] + 1; q <= route_end(row, host); q++) {
            int there = node_at(row, q);
            float more = to_here + distance(row, u, there) - distance(row, here, there);
            if (more < c0) { c2 = c1; c1 = c0; c0 = more; a2 = a1; a1 = a0; a0 = here; }
            else if (more < c1) { c2 = c1; c1 = more; a2 = a1; a1 = here; }
            else if (more < c2) { c2 = more; a2 = here; }
            here = there;
            to_here = distance(row, here, u);
        }
        float* offer = row.offer + OFFERS * u;
        u16* after = row.after + PLACES * u;
        offer[0] = c0; offer[1] = c1; offer[2] = c2;
        after[0] = a0; after[1] = a1; after[2] = a2;
        offer[PLACES] = detour(row, row.tour[p - 1], u, node_at(row, p + 1));
    }
    SYNC();
}

// The cheapest insertion of u into the route of v without v, and the node that it follows.
DEVICE float cheapest(const Row& row, int u, int v, int& after) {
    int before = row.tour[row.pos[v] - 1];
    float least = detour(row, before, u, node_at(row, row.pos[v] + 1));
    after = before;
    for (int k = 0; k < PLACES; k++) {
        int node = row.after[PLACES * u + k];
        if (node == TAKEN || node == v || node == before) continue;  // places beside v are gone with it
        if (row.offer[OFFERS * u + k] < least) { least = row.offer[OFFERS * u + k]; after = node; }
        break;
    }
    return least;
}

struct Exchange {
    int u, v, after_u, after_v;
};

// What the exchange with the given number gains; less than `row.least` where it is not worth a closer look.
DEVICE float exchanged(const Row& row, const Pair& pair, int load_a, int load_b, int number, Exchange& x) {
    x.u = row.tour[pair.first_a + number / pair.lb];
    x.v = row.tour[pair.first_b + number % pair.lb];
    int more = row.demand[x.v] - row.demand[x.u];
    int then = beyond(row, load_a + more) + beyond(row, load_b - more);
    float saved = row.offer[OFFERS * x.u + PLACES] + row.offer[OFFERS * x.v + PLACES];
    saved -= burdened(row, then, PRICED ? beyond(row, load_a) + beyond(row, load_b) : 0);
    if (saved <= row.least) return 0;
    saved -= cheapest(row, x.u, x.v, x.after_u);
    return saved <= row.least ? 0 : saved - cheapest(row, x.v, x.u, x.after_v);
}

DEVICE void relocate(Row& row, int node, int after) {
    int place = row.pos[node], to = row.pos[after] + 1;
    Move m = {to, 0, place, 1, false, false};
    if (to > place) m = {place, 1, to, 0, false, false};
    make(row, m);
}

// Makes the best exchange between two routes; what it gains, 0 if nothing gains enough.
DEVICE float swap_best(Row& row, const Pair& pair) {
    list_places(row, pair);
    int load_a = load_of(row, pair.ra), load_b = load_of(row, pair.rb);
    float best = row.least;
    u32 which = NONE;
    Exchange x;
    for (int number = row.lane; number < pair.la * pair.lb; number += LANES) {
        float gained = exchanged(row, pair, load_a, load_b, number, x);
        if (gained > best) { best = gained; which = number; }
    }
    u32 top = warp_max(which == NONE ? 0 : bits_of(best));
    if (top == 0) return 0;
    which = warp_min(which != NONE && bits_of(best) == top ? which : NONE);
    exchanged(row, pair, load_a, load_b, (int)which, x);
    SYNC();
    for (int k = 0; k < 2; k++) relocate(row, k ? x.v : x.u, k ? x.after_v : x.after_u);
    return float_of(top);
}

// Ranks the routes of neighbours of a route's customers by which of them comes first; without lists, all routes.
DEVICE void rank_partners(Row& row, int route) {
    SYNC();
    for (int other = row.lane; other < row.D; other += LANES) row.rank[other] = row.K ? NONE : other;
    SYNC();
    int first = row.start[route] + 1, pairs = (route_end(row, route) - first) * row.K;
    for (int number = row.lane; number < pairs; number += LANES) {
        int u = row.tour[first + number / row.K], v = row.near[u * row.K + number % row.K];
        lower(&row.rank[row.route[row.pos[v]]], number);
    }
    SYNC();
}

// The route with the lowest rank from this one on, which becomes its rank; -1 if there is none.
DEVICE int next_partner(const Row& row, u32& rank) {
    u32 least = NONE;
    for (int route = row.lane; route < row.D; route += LANES)
        if (row.rank[route] >= rank && row.rank[route] < least) least = row.rank[route];
    rank = warp_min(least);
    u32 which = NONE;
    for (int route = row.lane; route < row.D; route += LANES)
        if (row.rank[route] == rank && rank != NONE) which = route;
    return (int)warp_min(which);
}

// Makes one exchange of a route that has changed; what it gains, 0 if there is none. Counts what it takes, in looks.
ROUTINE float swapped(Row& row, int& looks) {
    SYNC();
    for (int route = row.lane; route < row.D; route += LANES) row.touched[route] = row.touched[route] == CHANGED;
    SYNC();
    for (int ra = 0; ra < row.D; ra++) {
        if (row.touched[ra] != CHANGED) continue;
        rank_partners(row, ra);
        u32 rank = 0;
        for (int rb = next_partner(row, rank); rb >= 0; rank++, rb = next_partner(row, rank)) {
            if (rb == ra || row.touched[rb] == TRIED) continue;
            Pair pair = pair_of(row, ra, rb);
            looks += 1 + pair.la * pair.lb / EXCHANGES_A_LOOK;
            float gained = swap_best(row, pair);
            if (gained > 0) return gained;
        }
        SYNC();
        if (row.lane == 0) row.touched[ra] = TRIED;
        SYNC();
    }
    return 0;
}
