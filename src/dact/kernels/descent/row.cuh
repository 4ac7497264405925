// A row's tour and instance, and what a launch has of both.

// What a launch has. Where it is known when the source is compiled, the compiler leaves out the rest, and rows take
// fewer registers: `options` in cuda_impl.py.
#ifndef ROUTES
#define ROUTES (row.D > 0)
#endif
#ifndef TABLES
#define TABLES (row.dist != 0)
#endif
#ifndef ONE_WAY
#define ONE_WAY row.asymmetric
#endif
#ifndef EXCHANGES
#define EXCHANGES (job.margin > 0)
#endif
#ifndef ROWS_AT_A_TIME
#define ROWS_AT_A_TIME 16  // of a multiprocessor, as its registers allow
#endif
#ifndef OVERLOAD
#define OVERLOAD (job.overload > 0)
#define PRICED (row.price > 0)
#elif OVERLOAD
#define PRICED (row.price > 0)
#else
#define PRICED false
#endif

struct Row {
    int N;               // positions of the tour; fewer than `nodes` while a kick has taken customers out
    int nodes, D, K, V;  // nodes, depots (nodes 0 .. D-1), neighbours of each node, kinds of moves
    int C;               // nodes that kicks begin at; 0: any customer
    int VS, VP;          // the first kinds cut the edge behind u, those up to VP the one before it, the others both
    int lane, words, asymmetric;
    int capacity, empty;  // place of the first depot with an empty route, or -1
    float least, reach;
    const float* xy;
    const float* dist;
    const int* demand;
    const u16* near;
    const int* codes;
    const u16* centre;
    u16 *tour, *pos, *spare, *route, *start;
    int* cum;      // loads up to each place
    double* turn;  // what it costs to drive the edges up to each place backwards instead of forwards
    u32* dirty;
    u64 stream;
    double price;    // of a unit of load beyond the capacity; 0: routes stay within it
    u8* touched;     // of each route: has it changed since exchanges between routes were tried?
    float* offer;    // working memory of such exchanges, see swaps.cuh
    u16* after;
    u32* rank;
};

// Places the arrays of a row; `working_bytes` in job.py says how large they are.
DEVICE void lay_out(Row& row, char* space, bool exchanges) {
    int even = (row.nodes + 1) & ~1;
    row.turn = (double*)space;
    space += ONE_WAY ? 8 * (row.nodes + 1) : 0;
    row.cum = (int*)space;
    space += ROUTES ? 4 * row.nodes : 0;
    row.dirty = (u32*)space;
    space += 4 * row.words;
    if (exchanges) {
        row.offer = (float*)space;
        row.rank = (u32*)(row.offer + OFFERS * row.nodes);
        row.after = (u16*)(row.rank + row.D);
        space = (char*)(row.after + PLACES * even);
    }
    row.tour = (u16*)space;
    row.pos = row.tour + even;
    row.spare = row.pos + even;
    row.route = row.spare + even;
    row.start = row.route + even;
}

DEVICE float distance(const Row& row, int from, int to) {
    if (TABLES) return row.dist[(i64)from * row.nodes + to];
    float x = row.xy[2 * from] - row.xy[2 * to], y = row.xy[2 * from + 1] - row.xy[2 * to + 1];
    return sqrtf(x * x + y * y);
}

DEVICE int wrapped(const Row& row, int place) {
    return place >= row.N ? place - row.N : place < 0 ? place + row.N : place;
}

DEVICE int node_at(const Row& row, int place) { return row.tour[wrapped(row, place)]; }

DEVICE int route_end(const Row& row, int route) { return route + 1 < row.D ? row.start[route + 1] : row.N; }
