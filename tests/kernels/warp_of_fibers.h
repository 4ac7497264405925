// A warp of 32 lanes on a CPU, put before the CUDA source to test what its lanes do together.
//
// Every lane is a fiber. It runs until a routine that the lanes call together, and goes on when all have come to the
// same one. In between, lanes take turns in an order that can be chosen: a missing SYNC shows as a difference between
// orders, or from a warp of one lane, or as lanes that do not meet.
#include <math.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#include <functional>

#define DEVICE static inline
#define ROUTINE static
#define LANES 32
#define LANE fibers::lane
#define SYNC() fibers::meet(__LINE__, 0)

namespace fibers {
const int STACK = 1 << 18;
static ucontext_t first_entry, main_entry;
static jmp_buf states[LANES], main_state;
static bool ended[LANES];
static int lane, where[LANES];
static unsigned long long slots[2][LANES];
static int turn[LANES];
static std::function<void()> work;
static char* stacks;

// All lanes come here from the same line; gives the numbers that they brought.
static unsigned long long* meet(int line, unsigned long long number) {
    int mine = lane, half = turn[mine]++ & 1;
    where[mine] = line;
    slots[half][mine] = number;
    if (!_setjmp(states[mine])) _longjmp(main_state, 1);
    return slots[half];
}

static void begin() {
    int mine = lane;
    work();
    ended[mine] = true;
    _longjmp(main_state, 1);
}

static void start(int number) {
    getcontext(&first_entry);
    first_entry.uc_stack.ss_sp = stacks + (long)STACK * number;
    first_entry.uc_stack.ss_size = STACK;
    first_entry.uc_link = 0;
    makecontext(&first_entry, begin, 0);
    if (!_setjmp(main_state)) swapcontext(&main_entry, &first_entry);
}

static void resume(int number) {
    if (!_setjmp(main_state)) _longjmp(states[number], 1);
}

// Lanes from the first to the last, the other way around, or in an order that changes each time.
enum { UPWARDS, DOWNWARDS, MIXED };

static int next_lane(int k, int order, int times) {
    if (order == MIXED) return (k * (2 * (7 * times % 16) + 1) + 11 * times) % LANES;
    return order == DOWNWARDS ? LANES - 1 - k : k;
}

// False if the lanes did not all come to the same place.
static bool run(std::function<void()> job, int order) {
    work = job;
    if (!stacks) stacks = (char*)malloc((long)STACK * LANES);
    for (int k = 0; k < LANES; k++) ended[k] = turn[k] = 0;
    for (int times = 0;; times++) {
        for (int k = 0; k < LANES; k++) {
            lane = next_lane(k, order, times);
            if (times) resume(lane);
            else start(lane);
        }
        for (int k = 1; k < LANES; k++)
            if (ended[k] != ended[0] || (!ended[0] && where[k] != where[0])) return false;
        if (ended[0]) return true;
    }
}

template <typename T> static unsigned long long packed(T x) {
    unsigned long long bits = 0;
    memcpy(&bits, &x, sizeof x);
    return bits;
}

template <typename T> static T unpacked(unsigned long long bits) {
    T x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

template <typename T> static T sum(T x, int line, int lanes) {
    unsigned long long* all = meet(line, packed(x));
    T total = 0;
    for (int k = 0; k < lanes; k++) total += unpacked<T>(all[k]);
    return total;
}

static unsigned int largest(unsigned int x, int line) {
    unsigned long long* all = meet(line, x);
    for (int k = 0; k < LANES; k++)
        if (all[k] > x) x = (unsigned int)all[k];
    return x;
}
}  // namespace fibers

#define warp_sum(x) fibers::sum(x, __LINE__, LANES)
#define sum_before(x) fibers::sum(x, __LINE__, fibers::lane)
#define warp_max(x) fibers::largest(x, __LINE__)
#define warp_min(x) (~fibers::largest(~(unsigned int)(x), __LINE__))

// Set from outside, and read there: in which order do lanes take turns, and have they come to different places?
extern "C" {
int lane_order, diverged;
}
#define IN_WARP(call) \
    if (!fibers::run([&] { call; }, lane_order)) { diverged = 1; return; }
