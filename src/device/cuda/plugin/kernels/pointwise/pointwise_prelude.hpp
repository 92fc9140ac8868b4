// The beginning of every generated pointwise kernel. It includes no headers, so that NVRTC needs no toolkit.
#pragma once

namespace hone::device::cuda {

inline constexpr char kPointwisePrelude[] = R"(
typedef unsigned long long uint64;
typedef long long int64;
struct half_t { unsigned short bits; };
struct bfloat16_t { unsigned short bits; };
struct alignas(8) word8 { unsigned x, y; };
struct alignas(16) word16 { unsigned x, y, z, w; };
template <int n> struct word;
template <> struct word<1> { typedef unsigned char type; };
template <> struct word<2> { typedef unsigned short type; };
template <> struct word<4> { typedef unsigned type; };
template <> struct word<8> { typedef word8 type; };
template <> struct word<16> { typedef word16 type; };
#define INLINE __device__ __forceinline__
template <int n, class T> INLINE void load(const T* from, T (&to)[n]) {
  constexpr int bytes = n * sizeof(T), access = bytes < 16 ? bytes : 16, each = access / sizeof(T);
  typedef typename word<access>::type Word;
#pragma unroll
  for (int i = 0; i < bytes / access; ++i) {
    const Word w = reinterpret_cast<const Word*>(from)[i];
    memcpy(to + i * each, &w, access);
  }
}
template <int n, class T> INLINE void store(T* to, const T (&from)[n]) {
  constexpr int bytes = n * sizeof(T), access = bytes < 16 ? bytes : 16, each = access / sizeof(T);
  typedef typename word<access>::type Word;
#pragma unroll
  for (int i = 0; i < bytes / access; ++i) {
    Word w;
    memcpy(&w, from + i * each, access);
    reinterpret_cast<Word*>(to)[i] = w;
  }
}
INLINE float widen(float x) { return x; }
INLINE float widen(half_t x) {
  float y;
  asm("cvt.f32.f16 %0, %1;" : "=f"(y) : "h"(x.bits));
  return y;
}
INLINE float widen(bfloat16_t x) { return __uint_as_float(static_cast<unsigned>(x.bits) << 16); }
INLINE bool widen(bool x) { return x; }
template <class T> INLINE int64 widen(T x) { return x; }
// A float outside an integer type becomes its nearest end, NaN becomes 0: tensor/convert.hpp.
template <class To> INLINE To saturated(float x) {
  constexpr bool negative = To(-1) < To(0);
  constexpr int bits = 8 * sizeof(To) - negative;
  constexpr float above = 2.0f * static_cast<float>(1ull << (bits - 1));
  constexpr To highest = static_cast<To>((1ull << (bits - 1)) - 1 + (1ull << (bits - 1)));
  constexpr To lowest = negative ? static_cast<To>(-highest - 1) : To(0);
  return x != x ? To(0) : x >= above ? highest : x <= (negative ? -above : 0.0f) ? lowest
                                                                                  : static_cast<To>(static_cast<int64>(x));
}
template <class To> struct narrow {
  template <class T> static INLINE To of(T x) { return static_cast<To>(x); }
  static INLINE To of(float x) { return saturated<To>(x); }
};
template <> struct narrow<float> { template <class T> static INLINE float of(T x) { return static_cast<float>(x); } };
template <> struct narrow<bool> { template <class T> static INLINE bool of(T x) { return x != T(0); } };
template <> struct narrow<half_t> {
  template <class T> static INLINE half_t of(T x) {
    half_t y;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(y.bits) : "f"(static_cast<float>(x)));
    return y;
  }
};
template <> struct narrow<bfloat16_t> {
  template <class T> static INLINE bfloat16_t of(T x) {
    const unsigned w = __float_as_uint(static_cast<float>(x));
    bfloat16_t y;
    y.bits = (w & 0x7fffffffu) > 0x7f800000u ? 0x7fffu : (w + 0x7fffu + ((w >> 16) & 1u)) >> 16;
    return y;
  }
};
INLINE float infinity() { return __uint_as_float(0x7f800000u); }
template <class T> INLINE T clip(T x, T low, T high) {
  x = x < low ? low : x;
  return x > high ? high : x;
}
INLINE float sigmoid(float x) { return 1.0f / (1.0f + expf(-x)); }
INLINE float softplus(float x) { return (x < 0.0f ? 0.0f : x) + log1pf(expf(-fabsf(x))); }
INLINE float divide(float x, float y) { return x / y; }
INLINE int64 divide(int64 x, int64 y) { return y == 0 ? 0 : y == -1 ? 0 - x : x / y; }
INLINE float remainder_of(float x, float y) { return fmodf(x, y); }
INLINE int64 remainder_of(int64 x, int64 y) { return y == 0 || y == -1 ? 0 : x % y; }
template <class T> INLINE T modulo(T x, T y) {
  const T r = remainder_of(x, y);
  return r != T(0) && (r < T(0)) != (y < T(0)) ? r + y : r;
}
INLINE unsigned take(unsigned& rest, const int64* size) {
  const unsigned n = rest;
  rest = (__umulhi(n, static_cast<unsigned>(size[1])) + n) >> size[2];
  return n - rest * static_cast<unsigned>(size[0]);
}
INLINE uint64 take(uint64& rest, const int64* size) {
  const uint64 n = rest;
  rest = n / static_cast<uint64>(size[0]);
  return n - rest * static_cast<uint64>(size[0]);
}
struct stamp_t { uint64 begin, end; };
INLINE uint64 global_time() {
  uint64 time;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(time));
  return time;
}
struct running_t {
  stamp_t* stamp;
  INLINE explicit running_t(stamp_t* s) : stamp(s) {
    if (stamp && threadIdx.x == 0 && blockIdx.x == 0) stamp->begin = global_time();
  }
  INLINE ~running_t() {
    if (stamp && threadIdx.x == 0) atomicMax(&stamp->end, global_time());
  }
};
INLINE void begin_kernel() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}
)";

}  // namespace hone::device::cuda
