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
    double* price;        // R x 3: of a unit of load beyond the capacity; rounds within it and rounds since it changed
    u8* touched;          // R x D: routes that have changed since exchanges between routes were tried
    char* space;          // R x bytes, where a row's working memory does not fit on the chip
    i64 bytes;            // of a row's working memory
    double temperature;   // of acceptance, as a share of the cost ...
    double cooling;       // ... and its logarithm's change in each round
    double margin;        // exchanges are tried with tours that cost no more than this share above the current one
    double overload;      // the price at first, as a multiple of what a unit costs on average; 0: no overload
    int rows, nodes, depots, neighbours, variants, behind, before, words;
    int rounds;           // a row stops after so many in all ...
    int looks;            // ... and after so many looks in this launch
    int centres;          // C; 0: kicks begin at any customer
    float reach;          // neighbours beyond so many times the edge that is cut are not tried; 0: all are
    Kick kick;
};

enum { ROUNDS, MOVES, LOOKS, BETTERS, SCAN, JUDGED, COUNTS };
enum { WITHIN = 1, SEEN };  // places in a row's `price`

// See numba_impl.py.
#define WINDOW 20
#define SHARE 0.4
#define FALL 0.85
#define RISE 1.2
#define LOWEST 1e-3
#define HIGHEST 1e6
#define FIRST 1e299

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
    row.price = job.price[3 * index];
    row.touched = job.touched + (i64)row.D * index;
    lay_out(row, space, ROUTES && EXCHANGES);
    copy(row, job.work + (i64)index * row.nodes, row.tour);
    for (int k = row.lane; k < row.words; k += LANES) row.dirty[k] = job.dirty[(i64)index * row.words + k];
    SYNC();
    settle(row, 0, row.N);
    return row;
}

// What comes of the tour of a round: a new best, the next current tour, or a way back to the current one. Was it within
// the capacity?
DEVICE bool judge(Row& row, const Job& job, int index, double* cost, int* count) {
    u16 *current = job.current + (i64)index * row.nodes, *best = job.best + (i64)index * row.nodes;
    bool within = !PRICED || overload(row) == 0;
    if (within && cost[0] < cost[2] - row.least) {
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
    for (int route = row.lane; route < row.D; route += LANES) row.touched[route] = 0;
    SYNC();
    count[JUDGED] = 1;
    return within;
}

// The price of overload begins after the first descent, and falls where tours are mostly within the capacity.
DEVICE void move_price(Row& row, const Job& job, int index, bool within, double* cost) {
    double *price = job.price + 3 * index, seen = price[SEEN] + 1, kept = price[WITHIN] + within;
    bool moves = !(PRICED && seen < WINDOW);
    if (moves) {
        int demand = 0;
        for (int node = row.D + row.lane; node < row.nodes; node += LANES) demand += row.demand[node];
        demand = warp_sum(demand);
        double unit = cost[1] / (demand > 1 ? demand : 1), next = job.overload * unit;
        if (PRICED) next = row.price * (kept > SHARE * WINDOW ? FALL : RISE);
        if (next < LOWEST * unit) next = LOWEST * unit;
        row.price = next < HIGHEST * unit ? next : HIGHEST * unit;
        seen = kept = 0;
        cost[0] = cost[1] = total_cost(row);
    }
    SYNC();
    if (row.lane == 0) {
        price[0] = row.price;
        price[WITHIN] = kept;
        price[SEEN] = seen;
    }
    SYNC();
}

// An exchange between two routes, if the tour is the first one or worth it; what it gains.
DEVICE float swap_star(Row& row, const Job& job, const double* cost, int& looks) {
    if (!ROUTES || !EXCHANGES) return 0;
    if (cost[1] < FIRST && (cost[0] > cost[1] * (1 + job.margin) || fabs(cost[0] - cost[1]) <= row.least)) return 0;
    return swapped(row, looks);
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
        SYNC();  // before a lane changes what others still read
        if (node < 0) {
            if (!count[JUDGED]) {
                float gained = swap_star(row, job, cost, looks);
                if (gained > 0) {
                    cost[0] -= gained;
                    count[MOVES]++;
                    looks++;
                    continue;
                }
                bool within = judge(row, job, index, cost, count);
                if (ROUTES && OVERLOAD) move_price(row, job, index, within, cost);
            }
            if (count[ROUNDS] >= job.rounds) break;
            cost[0] = kicked(row, job.kick);
            count[ROUNDS]++;
            count[JUDGED] = 0;
            looks++;
            SYNC();
            continue;
        }
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

extern "C" __global__ void __launch_bounds__(BLOCK, ROWS_AT_A_TIME * LANES / BLOCK) rounds(Job job) {
    int warp = threadIdx.x / LANES, index = blockIdx.x * (BLOCK / LANES) + warp;
    if (index >= job.rows) return;
    char* space = job.space ? job.space + job.bytes * index : (char*)shared_space + job.bytes * warp;
    run_row(job, index, space);
}
#else
extern "C" void rounds(const Job* job) {
    for (int index = 0; index < job->rows; index++) {
        IN_WARP(run_row(*job, index, job->space + job->bytes * index));
    }
}
#endif
