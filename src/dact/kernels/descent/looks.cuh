// Looks: of all moves of one node towards its neighbours, the best one.

DEVICE int next_dirty(const Row& row, int from) {
    for (int k = 0, word = from >> 5; k <= row.words; k++, word++) {
        if (word >= row.words) word = 0;
        u32 bits = row.dirty[word];
        if (k == 0) bits &= ~0u << (from & 31);
        if (bits) return 32 * word + lowest_bit(bits);
    }
    return -1;
}

// How many of a node's neighbours, nearest first, moves are tried with: those that cut the edge behind the node, those
// that cut the edge before it, and those that cut both. A new edge longer than every edge cut at its end does not pay.
struct Reach {
    int behind, before, both;
};

DEVICE Reach reach_of(const Row& row, int u) {
    int all = row.K ? row.K : row.nodes - row.D;
    if (!row.K || !(row.reach > 0)) return {all, all, all};
    int place = row.pos[u], behind = 0, before = 0;
    float next = row.reach * distance(row, u, node_at(row, place + 1));
    float last = row.reach * distance(row, node_at(row, place - 1), u);
    for (int k = row.lane; k < row.K; k += LANES) {
        float away = distance(row, u, row.near[u * row.K + k]);
        behind += away < next;
        before += away < last;
    }
    behind = warp_sum(behind);
    before = warp_sum(before);
    return {behind, before, behind > before ? behind : before};
}

DEVICE int candidates(const Row& row, const Reach& reach) {
    int near = reach.behind * row.VS + reach.before * (row.VP - row.VS) + reach.both * (row.V - row.VP);
    return near + (ROUTES ? row.V : 0);
}

// The move with the given number at node u: false if there is none. The last ones go to the first empty route.
DEVICE bool candidate(const Row& row, int u, int number, const Reach& reach, Move& m) {
    int tried = reach.behind, first = 0, kinds = row.VS;
    if (number >= tried * kinds) {
        number -= tried * kinds;
        tried = reach.before;
        first = row.VS;
        kinds = row.VP - row.VS;
        if (number >= tried * kinds) {
            number -= tried * kinds;
            tried = reach.both;
            first = row.VP;
            kinds = row.V - row.VP;
        }
    }
    int v, code;
    if (number < tried * kinds) {
        int which = number / kinds;
        v = row.K ? row.near[u * row.K + which] : row.D + which;
        code = row.codes[first + number - which * kinds];
    } else {
        if (row.empty < 0) return false;
        v = row.tour[row.empty];
        code = row.codes[number - tried * kinds];
    }
    return v != u && named(row, row.pos[u], row.pos[v], code, m);
}

// The best move at a node, and what it gains: 0 if nothing gains enough.
DEVICE float look(const Row& row, int u, Move& m) {
    Reach reach = reach_of(row, u);
    int count = candidates(row, reach);
    float best = row.least;
    u32 which = NONE;
    for (int number = row.lane; number < count; number += LANES) {
        Move trial;
        if (!candidate(row, u, number, reach, trial)) continue;
        float price = burden(row, trial);
        if (price >= FORBIDDEN) continue;
        float gained = gain(row, trial) - price;
        if (gained > best) { best = gained; which = number; }
    }
    // The highest gain; of equal ones the lowest number.
    u32 top = warp_max(which == NONE ? 0 : bits_of(best));
    if (top == 0) return 0;
    which = warp_min(which != NONE && bits_of(best) == top ? which : NONE);
    candidate(row, u, (int)which, reach, m);
    return float_of(top);
}
