// Kicks: what takes a tour out of its local optimum.

#define PAIRS 0   // 2-opt moves of pairs of nodes, drawn anywhere
#define NEARBY 1  // moves of any kind among the neighbours of one node
#define BRIDGE 2  // two neighbouring stretches change places (the double bridge)
#define RUIN 3    // stretches around one node are taken out, and their nodes put back one by one where it is cheapest

struct Kick {
    int kind, size, window;
};

#define MOST_STRINGS 16
#define BLINKS 10  // of 1024 places are passed over when a node is put back

// The tour's length and the price of its overload. Sums of float32 lengths in float64 are exact: the order does not
// matter.
DEVICE double total_cost(const Row& row) {
    double total = 0;
    for (int place = row.lane; place < row.N; place += LANES)
        total += (double)distance(row, row.tour[place], node_at(row, place + 1));
    total = warp_sum(total);
    return PRICED ? total + row.price * overload(row) : total;
}

// The customer that a kick begins at.
DEVICE int drawn_centre(Row& row) {
    return row.C ? row.centre[draw(row.stream, row.C)] : row.D + draw(row.stream, row.nodes - row.D);
}

DEVICE bool drawn_move(Row& row, const Kick& kick, int centre, Move& m) {
    if (kick.kind == BRIDGE) {
        int la = 1 + draw(row.stream, kick.window), lb = 1 + draw(row.stream, kick.window), a = row.pos[drawn_centre(row)];
        m = {a, la, a + la, lb, false, false};
        return !ROUTES && la + lb < row.N;
    }
    int u, v, code;
    if (kick.kind == NEARBY && row.K) {  // without lists of neighbours, all nodes are near
        int among = kick.window < row.K ? kick.window : row.K;
        int k = draw(row.stream, among + 1);
        u = k == among ? centre : row.near[centre * row.K + k];
        v = row.near[u * row.K + draw(row.stream, among)];
        code = row.codes[draw(row.stream, row.V)];
    } else {
        u = drawn_centre(row);
        v = row.D + draw(row.stream, row.nodes - row.D);
        int k = draw(row.stream, 4);
        code = (ROUTES && (k & 2) ? 2 : 1) | (k & 1) << 5;
    }
    return v != u && named(row, row.pos[u], row.pos[v], code, m) && burden(row, m) < FORBIDDEN;
}

ROUTINE void kick_by_moves(Row& row, const Kick& kick) {
    int centre = drawn_centre(row), made = 0;
    for (int tries = 0; made < kick.size && tries < 4 * kick.size; tries++) {
        Move m;
        if (!drawn_move(row, kick, centre, m)) continue;
        float gained = gain(row, m);
        if (gained <= row.least && gained >= -row.least) continue;  // idle
        make(row, m);
        made++;
    }
}

// Takes the places from .. from + length out.
DEVICE void take_out(Row& row, int from, int length) {
    SYNC();
    for (int k = row.lane; k < length; k += LANES) row.tour[wrapped(row, from + k)] = TAKEN;
    SYNC();
}

// A string of nodes around place p, within its route; gives its length.
DEVICE int string_around(Row& row, int p, int longest) {
    if (longest > row.N) longest = row.N;
    int low = p - longest + 1, high = p + longest - 1;
    if (ROUTES) {
        touch(row, row.route[p]);
        int first = row.start[row.route[p]] + 1, last = route_end(row, row.route[p]) - 1;
        longest = last - first + 1 < longest ? last - first + 1 : longest;
        low = first;
        high = last;
    }
    int length = 1 + draw(row.stream, longest);
    int earliest = p - length + 1 > low ? p - length + 1 : low, latest = high - length + 1 < p ? high - length + 1 : p;
    int from = earliest + draw(row.stream, latest - earliest + 1);
    // The nodes on either side of the gap are to be looked at again.
    int ends[2] = {node_at(row, from - 1), node_at(row, from + length)};
    for (int k = 0; k < 2; k++)
        if (ends[k] != TAKEN) mark(row, ends[k]);
    take_out(row, from, length);
    return length;
}

// Is the route of place p among those that have lost a string? TSP: is its node taken out?
DEVICE bool ruined(const Row& row, int p, const int* routes, int count) {
    if (row.tour[p] == TAKEN) return true;
    if (ROUTES)
        for (int k = 0; k < count; k++)
            if (routes[k] == row.route[p]) return true;
    return false;
}

// Strings out of the routes near a node; the nodes left over come to the end of the tour's array. Gives their number.
DEVICE void ruin(Row& row, const Kick& kick) {
    int centre = drawn_centre(row), routes[MOST_STRINGS];
    int longest = kick.window, strings = 1 + draw(row.stream, kick.size), count = 0;
    if (strings > MOST_STRINGS) strings = MOST_STRINGS;
    for (int k = -1; k < row.K && count < strings; k++) {
        int place = row.pos[k < 0 ? centre : row.near[centre * row.K + k]];
        if (ruined(row, place, routes, count)) continue;
        routes[count++] = ROUTES ? row.route[place] : 0;
        string_around(row, place, longest);
    }
    // What stays, in order.
    int share = (row.N + LANES - 1) / LANES, begin = row.lane * share, stays = 0;
    int end = begin + share < row.N ? begin + share : row.N;
    for (int place = begin; place < end; place++) stays += row.tour[place] != TAKEN;
    int left = warp_sum(stays), to = sum_before(stays);
    for (int place = begin; place < end; place++)
        if (row.tour[place] != TAKEN) row.spare[to++] = row.tour[place];
    SYNC();
    // The nodes that were taken: those whose position no longer holds them.
    int share_n = (row.nodes + LANES - 1) / LANES, first = row.lane * share_n, taken = 0;
    int last = first + share_n < row.nodes ? first + share_n : row.nodes;
    for (int node = first; node < last; node++) taken += row.tour[row.pos[node]] == TAKEN;
    to = left + sum_before(taken);
    for (int node = first; node < last; node++)
        if (row.tour[row.pos[node]] == TAKEN) row.spare[to++] = node;
    SYNC();
    for (int place = row.lane; place < row.N; place += LANES) row.tour[place] = row.spare[place];
    row.N = left;
    SYNC();
    settle(row, 0, row.N);
}

DEVICE u32 ascending(float x) {
    u32 bits = bits_of(x);
    return bits >> 31 ? ~bits : bits | 0x80000000u;
}

// Which of the nodes behind the tour is put back next: any, the largest, the farthest or the nearest from the depot.
DEVICE void choose_next(Row& row, int order, u64 salt) {
    u32 top = 0, which = NONE;
    for (int place = row.N + row.lane; place < row.nodes; place += LANES) {
        int node = row.tour[place];
        u32 key = (u32)(mixed(salt + node) >> 40);
        if (order == 1) key = (u32)row.demand[node];
        else if (order == 2) key = bits_of(distance(row, 0, node));
        else if (order == 3) key = ~bits_of(distance(row, 0, node));
        if (which == NONE || key > top) { top = key; which = place; }
    }
    u32 best = warp_max(which == NONE ? 0 : top);
    which = warp_min(which != NONE && top == best ? which : NONE);
    SYNC();
    if (row.lane == 0) {
        u16 node = row.tour[which];
        row.tour[which] = row.tour[row.N];
        row.tour[row.N] = node;
    }
    SYNC();
}

// The cheapest place to put a node, by the place it pushes back; -1 if no route has room for it.
DEVICE int cheapest_place(const Row& row, int node, u64 salt) {
    u32 least = NONE, which = NONE;
    for (int place = 1 + row.lane; place <= row.N; place += LANES) {
        float price = 0;
        if (ROUTES) {
            int load = load_of(row, row.route[place - 1]);
            price = burdened(row, beyond(row, load + row.demand[node]), beyond(row, load));
            if (price >= FORBIDDEN) continue;
        }
        if ((mixed(salt + place) >> 54) < BLINKS) continue;
        int last = row.tour[place - 1], next = node_at(row, place);
        float more = distance(row, last, node) + distance(row, node, next) - distance(row, last, next) + price;
        u32 key = ascending(more);
        if (key < least) { least = key; which = place; }
    }
    u32 best = warp_min(least);
    return (int)warp_min(least == best ? which : NONE);
}

DEVICE void put_in(Row& row, int node, int place) {
    for (int k = place + row.lane; k < row.N; k += LANES) row.spare[k] = row.tour[k];
    SYNC();
    for (int k = place + row.lane; k < row.N; k += LANES) row.tour[k + 1] = row.spare[k];
    if (row.lane == 0) row.tour[place] = node;
    SYNC();
    row.N++;
    settle(row, place, row.N - place);
    if (ROUTES) touch(row, row.route[place]);
    mark(row, node);
    mark(row, node_at(row, place - 1));
    mark(row, node_at(row, place + 1));
}

// False if a node could not be put back; then the tour is not one any more.
DEVICE bool recreate(Row& row) {
    int order = draw(row.stream, 4);
    if (!ROUTES && order == 1) order = 0;
    u64 salt = row.stream;
    while (row.N < row.nodes) {
        choose_next(row, order, salt);
        int node = row.tour[row.N];
        draw(row.stream, 1);
        int place = cheapest_place(row, node, row.stream);
        if (place < 0) return false;
        put_in(row, node, place);
    }
    return true;
}

// The cost after the kick; infinite where it failed.
ROUTINE double kicked(Row& row, const Kick& kick) {
    if (kick.kind != RUIN) {
        kick_by_moves(row, kick);
        return total_cost(row);
    }
    ruin(row, kick);
    bool whole = recreate(row);
    SYNC();
    if (whole) return total_cost(row);
    row.N = row.nodes;
    for (int k = row.lane; k < row.words; k += LANES) row.dirty[k] = 0;
    SYNC();
    return INFINITE;
}
