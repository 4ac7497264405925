// The moves that change a tour.
//
// Every move exchanges two stretches of positions, [a, a+la) and [b, b+lb) with a+la <= b, each turned around or not:
// or-opt and 2-opt have one of them empty, swap and 2-opt* have both. So there is one rule for what a move gains,
// one for whether it is feasible, and one way to make it. A stretch holds customers of one route only. TSP tours have
// no depots; there positions run around the end of the array, and b may be N or more.

struct Move {
    int a, la, b, lb;
    bool fa, fb;
};

// ---- the moves that codes name for the nodes at places p and q; false where there is none

// The stretch of 1 to 3 nodes that begins (or ends) with u comes to stand right behind (or before) v, u beside v. What
// stood there, 0 to 3 nodes, takes its place.
DEVICE bool exchange(const Row& row, int p, int q, int code, Move& m) {
    int length = (code >> 2) & 3, other = (code >> 6) & 3;
    bool back = (code >> 4) & 1, before = (code >> 5) & 1, flip_v = (code >> 8) & 1;
    bool flip_u = length > 1 && (back ? !before : before);
    int su = back ? p - length + 1 : p, sv = before ? q - other : q + 1;
    if (ROUTES) {
        int ru = row.route[p], rv = row.route[q];
        if (su <= row.start[ru] || su + length > route_end(row, ru)) return false;
        if (sv <= row.start[rv] || sv + other > route_end(row, rv)) return false;
        if (q >= su && q < su + length) return false;
        if (sv + other <= su) m = {sv, other, su, length, flip_v, flip_u};
        else if (sv >= su + length) m = {su, length, sv, other, flip_u, flip_v};
        else return false;
        return true;
    }
    su = wrapped(row, su);
    int offset = wrapped(row, wrapped(row, sv) - su);
    if (wrapped(row, q - su) < length) return false;
    if (other == 0 && offset == 0) offset = length;
    if (offset < length || offset + other > row.N) return false;
    int between = offset - length, rest = row.N - offset - other;
    sv = wrapped(row, su + offset);
    if (between <= rest) m = {su, length, su + offset, other, flip_u, flip_v};
    else m = {sv, other, sv + other + rest, length, flip_v, flip_u};
    return true;
}

// u and v become neighbours, and so do the nodes behind (or before) them.
DEVICE bool two_opt(const Row& row, int p, int q, bool before, Move& m) {
    if (!ROUTES) {
        int a = before ? p : p + 1, length = wrapped(row, q - p);
        if (!ONE_WAY && 2 * length > row.N) {
            a += length;
            length = row.N - length;
        }
        a = wrapped(row, a);
        m = {a, length, a + length, 0, true, false};
        return true;
    }
    if (before && q == row.start[row.route[q]]) return false;
    int low = p < q ? p : q, high = p < q ? q : p;
    int a = before ? low : low + 1;
    if (row.route[p] == row.route[q]) {
        m = {a, high - low, a + high - low, 0, true, false};
        return true;
    }
    int head = row.start[row.route[high]] + 1;
    m = {a, route_end(row, row.route[low]) - a, head, (before ? high : high + 1) - head, true, true};
    return true;
}

// v's rest of its route comes to stand behind u, and u's behind the one before v (or the other way around).
DEVICE bool two_opt_star(const Row& row, int p, int q, bool before, Move& m) {
    if (!ROUTES || row.route[p] == row.route[q]) return false;
    if (!before && q == row.start[row.route[q]]) return false;
    int su = before ? p : p + 1, sv = before ? q + 1 : q;
    int lu = route_end(row, row.route[p]) - su, lv = route_end(row, row.route[q]) - sv;
    if (su < sv) m = {su, lu, sv, lv, false, false};
    else m = {sv, lv, su, lu, false, false};
    return true;
}

DEVICE bool named(const Row& row, int p, int q, int code, Move& m) {
    int kind = code & 3;
    bool before = (code >> 5) & 1;
    if (kind == 0) return exchange(row, p, q, code, m);
    if (kind == 1) return two_opt(row, p, q, before, m);
    return two_opt_star(row, p, q, before, m);
}

// ---- loads

DEVICE int load_of(const Row& row, int route) { return row.cum[route_end(row, route) - 1] - row.cum[row.start[route]]; }

DEVICE int beyond(const Row& row, int load) { return load > row.capacity ? load - row.capacity : 0; }

// How far all routes together exceed the capacity.
DEVICE int overload(const Row& row) {
    int total = 0;
    for (int route = row.lane; route < row.D; route += LANES) total += beyond(row, load_of(row, route));
    return warp_sum(total);
}

// What it adds to the cost that routes exceed the capacity by so much, and did by so much: infinite where they must not.
DEVICE float burdened(const Row& row, int then, int now) {
    if (PRICED) return then == now ? 0 : (float)(row.price * (then - now));
    return then ? FORBIDDEN : 0;
}

// What the loads of both routes add to the cost of a move.
DEVICE float burden(const Row& row, const Move& m) {
    if (!ROUTES) return 0;
    int ra = row.route[m.a - 1], rb = row.route[m.b - 1];
    if (ra == rb) return 0;
    int load_a = load_of(row, ra), load_b = load_of(row, rb);
    int more = row.cum[m.b + m.lb - 1] - row.cum[m.b - 1] - row.cum[m.a + m.la - 1] + row.cum[m.a - 1];
    int then = beyond(row, load_a + more) + beyond(row, load_b - more);
    return burdened(row, then, PRICED ? beyond(row, load_a) + beyond(row, load_b) : 0);
}

// What it costs more to drive a stretch backwards.
DEVICE float turned(const Row& row, int from, int length) {
    from = wrapped(row, from);
    int last = from + length - 1;
    if (last < row.N) return (float)(row.turn[last] - row.turn[from]);
    return (float)(row.turn[row.N] - row.turn[from] + row.turn[last - row.N]);
}

// By how much the move shortens the tour.
DEVICE float gain(const Row& row, const Move& m) {
    int between = m.b - m.a - m.la;
    int before = node_at(row, m.a - 1), behind = node_at(row, m.b + m.lb);
    int a0 = node_at(row, m.a), a1 = node_at(row, m.a + m.la - 1);
    int b0 = node_at(row, m.b), b1 = node_at(row, m.b + m.lb - 1);
    int m0 = node_at(row, m.a + m.la), m1 = node_at(row, m.b - 1);
    float gained = 0;
    int here = before;
    if (m.la) { gained += distance(row, here, a0); here = a1; }
    if (between) { gained += distance(row, here, m0); here = m1; }
    if (m.lb) { gained += distance(row, here, b0); here = b1; }
    gained += distance(row, here, behind);
    float spent = 0;
    here = before;
    if (m.lb) { spent += distance(row, here, m.fb ? b1 : b0); here = m.fb ? b0 : b1; }
    if (between) { spent += distance(row, here, m0); here = m1; }
    if (m.la) { spent += distance(row, here, m.fa ? a1 : a0); here = m.fa ? a0 : a1; }
    spent += distance(row, here, behind);
    if (ONE_WAY) {
        if (m.fa && m.la) spent += turned(row, m.a, m.la);
        if (m.fb && m.lb) spent += turned(row, m.b, m.lb);
    }
    return gained - spent;
}

// ---- making a move

DEVICE void mark(Row& row, int node) {
    if (node >= row.D && row.lane == 0) row.dirty[node >> 5] |= 1u << (node & 31);
}

DEVICE void touch(Row& row, int route) {
    if (row.lane == 0) row.touched[route] = 1;
}

DEVICE void settle_loads(Row& row, int from, int length) {
    int share = (length + LANES - 1) / LANES, begin = from + row.lane * share;
    int end = begin + share < from + length ? begin + share : from + length;
    int load = 0, depots = 0;
    for (int place = begin; place < end; place++) {
        load += row.demand[row.tour[place]];
        depots += row.tour[place] < row.D;
    }
    load = sum_before(load) + (from ? row.cum[from - 1] : 0);
    depots = sum_before(depots) + (from ? row.route[from - 1] : -1);
    SYNC();
    for (int place = begin; place < end; place++) {
        int node = row.tour[place];
        load += row.demand[node];
        row.cum[place] = load;
        if (node < row.D) row.start[++depots] = place;
        row.route[place] = depots;
    }
    SYNC();
    u32 empty = NONE;
    for (int route = row.lane; route < row.D; route += LANES)
        if (empty == NONE && route_end(row, route) == row.start[route] + 1) empty = row.start[route];
    row.empty = (int)warp_min(empty);
}

DEVICE double backwards(const Row& row, int place) {
    int here = row.tour[place], next = node_at(row, place + 1);
    return (double)distance(row, next, here) - (double)distance(row, here, next);
}

DEVICE void settle_turns(Row& row) {
    int share = (row.N + LANES - 1) / LANES, begin = row.lane * share;
    int end = begin + share < row.N ? begin + share : row.N;
    double total = 0;
    for (int place = begin; place < end; place++) total += backwards(row, place);
    total = sum_before(total);
    for (int place = begin; place < end; place++) {
        row.turn[place] = total;
        total += backwards(row, place);
    }
    if (begin < end && end == row.N) row.turn[row.N] = total;
    SYNC();
}

// Brings positions, loads and routes up to date after the nodes at some consecutive places have changed.
DEVICE void settle(Row& row, int from, int length) {
    for (int k = row.lane; k < length; k += LANES) {
        int place = wrapped(row, from + k);
        row.pos[row.tour[place]] = place;
    }
    if (ROUTES) settle_loads(row, from, length);
    SYNC();
    if (ONE_WAY) settle_turns(row);
}

DEVICE void make(Row& row, const Move& m) {
    int between = m.b - m.a - m.la, length = m.la + between + m.lb;
    if (ROUTES) {
        touch(row, row.route[m.a - 1]);
        touch(row, row.route[m.b - 1]);
    }
    mark(row, node_at(row, m.a - 1));
    mark(row, node_at(row, m.b + m.lb));
    if (m.la) { mark(row, node_at(row, m.a)); mark(row, node_at(row, m.a + m.la - 1)); }
    if (m.lb) { mark(row, node_at(row, m.b)); mark(row, node_at(row, m.b + m.lb - 1)); }
    if (between) { mark(row, node_at(row, m.a + m.la)); mark(row, node_at(row, m.b - 1)); }
    for (int k = row.lane; k < length; k += LANES) {
        int from = m.a + (m.fa ? length - 1 - k : k - m.lb - between);
        if (k < m.lb) from = m.b + (m.fb ? m.lb - 1 - k : k);
        else if (k < m.lb + between) from = m.a + m.la + (k - m.lb);
        row.spare[k] = node_at(row, from);
    }
    SYNC();
    for (int k = row.lane; k < length; k += LANES) row.tour[wrapped(row, m.a + k)] = row.spare[k];
    SYNC();
    settle(row, m.a, length);
}
