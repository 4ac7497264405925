// What a warp does together. These files are tested without a GPU as plain C++: with a warp of one lane, where every
// sum over lanes is the lane's own number, and with one of 32 lanes that take turns (tests/kernels/warp_of_fibers.h).

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef long long i64;

#define NONE 0xffffffffu
#define INFINITE 1e300
#define FORBIDDEN 3e38f  // a cost that nothing gains
#define TAKEN 0xffff     // no node
#define PLACES 3         // insertions that are kept for each customer ...
#define OFFERS 4         // ... whose costs are followed by what its own route saves without it

#ifdef __CUDACC__
#define DEVICE __device__ __forceinline__
#define ROUTINE __device__ __forceinline__
#define LANES 32
#define LANE (int)(threadIdx.x & 31)
#define SYNC() __syncwarp()
#define ALL 0xffffffffu

template <typename T> DEVICE T warp_sum(T x) {
    for (int s = 16; s; s >>= 1) x += __shfl_xor_sync(ALL, x, s);
    return x;
}

template <typename T> DEVICE T sum_before(T x) {  // over the lanes below this one
    T total = x;
    for (int s = 1; s < 32; s <<= 1) {
        T other = __shfl_up_sync(ALL, total, s);
        if (LANE >= s) total += other;
    }
    return total - x;
}

DEVICE u32 warp_max(u32 x) {
#if __CUDA_ARCH__ >= 800
    return __reduce_max_sync(ALL, x);
#else
    for (int s = 16; s; s >>= 1) x = max(x, __shfl_xor_sync(ALL, x, s));
    return x;
#endif
}

DEVICE u32 warp_min(u32 x) { return ~warp_max(~x); }
DEVICE u32 bits_of(float x) { return __float_as_uint(x); }
DEVICE float float_of(u32 bits) { return __uint_as_float(bits); }
DEVICE int lowest_bit(u32 x) { return __ffs(x) - 1; }
DEVICE void lower(u32* number, u32 to) { atomicMin(number, to); }
#else
#include <math.h>
#include <string.h>
#ifndef LANES
#define DEVICE static inline
#define ROUTINE static
#define LANES 1
#define LANE 0
#define SYNC()
#define IN_WARP(call) call

template <typename T> DEVICE T warp_sum(T x) { return x; }
template <typename T> DEVICE T sum_before(T) { return 0; }
DEVICE u32 warp_max(u32 x) { return x; }
DEVICE u32 warp_min(u32 x) { return x; }
#endif
DEVICE u32 bits_of(float x) {
    u32 bits;
    memcpy(&bits, &x, 4);
    return bits;
}
DEVICE float float_of(u32 bits) {
    float x;
    memcpy(&x, &bits, 4);
    return x;
}
DEVICE int lowest_bit(u32 x) { return __builtin_ctz(x); }
DEVICE void lower(u32* number, u32 to) { *number = to < *number ? to : *number; }
#endif

DEVICE u64 mixed(u64 x) {
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
    return x ^ (x >> 31);
}

// The numbers of a row's own stream, as in dact.kernels.row_draws: an integer from 0 to below - 1.
DEVICE int draw(u64& stream, int below) {
    stream += 0x9E3779B97F4A7C15ull;
    return (int)(((mixed(stream) >> 33) * (u64)below) >> 31);
}
