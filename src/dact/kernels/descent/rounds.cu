// Rounds of kick and descent. numba_impl.py has the same routines in Python: both make the same moves, bit for bit.

// Mirrors `Job` in job.py.
struct Job {
    const float* xy;      // I x N x 2: coordinates, or null where there are matrices
    const float* dist;    // M x N x N, or null
    const int* matrix;    // I: which matrix
    const int* one_way;   // I: do its lengths depend on the direction?
    const int* demand;    // I x N
    const int* capacity;  // I
    const u16* near;      // I x N x K: neighbours, nearest first
    const float* least;   // I: what a move has to gain
    const int* source;    // R: the instance of a row
    const int* codes;     // V: the kinds of moves that descents try, ordered by the edges of u that they cut
    u16* work;            // R x N: the tour at hand
    u16* current;         // R x N: the tour of the last accepted round
    u16* best;            // R x N
    double* cost;         // R x 3: of these
    u32* dirty;           // R x W: nodes to be looked at
    i64* stream;          // R
    int* count;           // R x 6: rounds, moves, looks, rounds that found a new best, place of the scan, judged
    const u16* centre;    // R x C: nodes that kicks begin at
    char* space;          // R x bytes, where a row's working memory does not fit on the chip
    i64 bytes;            // of a row's working memory
    double temperature;   // of acceptance, as a share of the cost ...
    double cooling;       // ... and its logarithm's change in each round
    int rows, nodes, depots, neighbours, variants, behind, before, words;
    int rounds;           // a row stops after so many in all ...
    int looks;            // ... and after so many looks in this launch
    int centres;          // C; 0: kicks begin at any customer
    float reach;          // neighbours beyond so many times the edge that is cut are not tried; 0: all are
    Kick kick;
};

enum { ROUNDS, MOVES, LOOKS, BETTERS, SCAN, JUDGED, COUNTS };

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
    return near + (row.D ? row.V : 0);
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
    return v != u && named(row, row.pos[u], row.pos[v], code, m) && feasible(row, m);
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
        float gained = gain(row, trial);
        if (gained > best) { best = gained; which = number; }
    }
    // The highest gain; of equal ones the lowest number.
    u32 top = warp_max(which == NONE ? 0 : bits_of(best));
    if (top == 0) return 0;
    which = warp_min(which != NONE && bits_of(best) == top ? which : NONE);
    candidate(row, u, (int)which, reach, m);
    return gain(row, m);
}

DEVICE void copy(const Row& row, const u16* from, u16* to) {
    SYNC();
    for (int k = row.lane; k < row.nodes; k += LANES) to[k] = from[k];
    SYNC();
}

DEVICE Row open_row(const Job& job, int index, char* space) {
    Row row;
    int instance = job.source[index];
    row.N = row.nodes = job.nodes;
    row.D = job.depots;
    row.K = job.neighbours;
    row.V = job.variants;
    row.VS = job.behind;
    row.VP = job.before;
    row.words = job.words;
    row.lane = LANE;
    row.empty = -1;
    row.asymmetric = job.one_way[instance];
    row.reach = job.reach;
    row.capacity = job.capacity[instance];
    row.least = job.least[instance];
    row.xy = job.xy ? job.xy + (i64)2 * row.nodes * instance : 0;
    row.dist = job.dist ? job.dist + (i64)row.nodes * row.nodes * job.matrix[instance] : 0;
    row.demand = job.demand + (i64)row.nodes * instance;
    row.near = job.near + (i64)row.nodes * row.K * instance;
    row.codes = job.codes;
    row.C = job.centres;
    row.centre = job.centre + (i64)row.C * index;
    row.stream = (u64)job.stream[index];
    lay_out(row, space);
    copy(row, job.work + (i64)index * row.nodes, row.tour);
    for (int k = row.lane; k < row.words; k += LANES) row.dirty[k] = job.dirty[(i64)index * row.words + k];
    SYNC();
    settle(row, 0, row.N);
    return row;
}

// What comes of the tour of a round: a new best, the next current tour, or a way back to the current one.
DEVICE void judge(Row& row, const Job& job, int index, double* cost, int* count) {
    u16 *current = job.current + (i64)index * row.nodes, *best = job.best + (i64)index * row.nodes;
    if (cost[0] < cost[2] - row.least) {
        copy(row, row.tour, best);
        cost[2] = cost[0];
        count[BETTERS]++;
    }
    double limit = cost[1];
    if (job.temperature > 0 && count[ROUNDS] > 0) {
        double share = (draw(row.stream, 1 << 30) + 1) * (1.0 / (1 << 30));
        limit -= cost[1] * job.temperature * exp(job.cooling * count[ROUNDS]) * log(share);
    }
    if (cost[0] < limit) {
        copy(row, row.tour, current);
        cost[1] = cost[0];
    } else {
        copy(row, current, row.tour);
        cost[0] = cost[1];
        settle(row, 0, row.N);
    }
    count[JUDGED] = 1;
}

DEVICE void run_row(const Job& job, int index, char* space) {
    Row row = open_row(job, index, space);
    double cost[3];
    int count[COUNTS];
    for (int k = 0; k < 3; k++) cost[k] = job.cost[3 * index + k];
    for (int k = 0; k < COUNTS; k++) count[k] = job.count[COUNTS * index + k];
    SYNC();
    for (int looks = 0; looks < job.looks;) {
        int node = next_dirty(row, count[SCAN]);
        if (node < 0) {
            if (!count[JUDGED]) judge(row, job, index, cost, count);
            if (count[ROUNDS] >= job.rounds) break;
            cost[0] = kicked(row, job.kick);
            count[ROUNDS]++;
            count[JUDGED] = 0;
            looks++;
            SYNC();
            continue;
        }
        SYNC();
        if (row.lane == 0) row.dirty[node >> 5] &= ~(1u << (node & 31));
        SYNC();
        Move m;
        float gained = look(row, node, m);
        looks++;
        count[LOOKS]++;
        count[SCAN] = node;
        if (gained > 0) {
            make(row, m);
            mark(row, node);
            SYNC();
            cost[0] -= gained;
            count[MOVES]++;
        }
    }
    copy(row, row.tour, job.work + (i64)index * row.nodes);
    for (int k = row.lane; k < row.words; k += LANES) job.dirty[(i64)index * row.words + k] = row.dirty[k];
    if (row.lane == 0) {
        for (int k = 0; k < 3; k++) job.cost[3 * index + k] = cost[k];
        for (int k = 0; k < COUNTS; k++) job.count[COUNTS * index + k] = count[k];
        job.stream[index] = (i64)row.stream;
    }
}

#ifdef __CUDACC__
extern __shared__ double shared_space[];

extern "C" __global__ void __launch_bounds__(BLOCK) rounds(Job job) {
    int warp = threadIdx.x / LANES, index = blockIdx.x * (BLOCK / LANES) + warp;
    if (index >= job.rows) return;
    char* space = job.space ? job.space + job.bytes * index : (char*)shared_space + job.bytes * warp;
    run_row(job, index, space);
}
#else
extern "C" void rounds(const Job* job) {
    for (int index = 0; index < job->rows; index++) run_row(*job, index, job->space + job->bytes * index);
}
#endif
