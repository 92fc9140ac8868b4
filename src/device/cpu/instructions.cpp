// See instructions.hpp.
#include "device/cpu/instructions.hpp"

#include <dnnl.hpp>

#include <algorithm>
#include <array>

#include "base/clock.hpp"

namespace hone::device::cpu {
namespace {

/// oneDNN numbers its sets so that the bits of one are among those of every set that contains it.
bool may_use(dnnl::cpu_isa isa) {
  static const auto kEffective = static_cast<unsigned>(dnnl::get_effective_cpu_isa());
  const auto bits = static_cast<unsigned>(isa);
  return (kEffective & bits) == bits;
}

#define HONE_BF16 __attribute__((target("avx512f,avx512bf16")))

/// Sums that do not wait for each other, in as many registers.
#define HONE_EIGHT(op) op(0) op(1) op(2) op(3) op(4) op(5) op(6) op(7)
#define HONE_FMA(i) "vfmadd231ps %%zmm8, %%zmm9, %%zmm" #i "\n"
#define HONE_DOT(i) "vdpbf16ps %%zmm8, %%zmm9, %%zmm" #i "\n"
#define HONE_ZERO(i) "vpxord %%zmm" #i ", %%zmm" #i ", %%zmm" #i "\n"
#define HONE_SUMS "zmm0", "zmm1", "zmm2", "zmm3", "zmm4", "zmm5", "zmm6", "zmm7", "zmm8", "zmm9"

/// Seconds that the same number of instructions of each kind takes: FMA, then products of bfloat16.
HONE_BF16 std::array<double, 2> time_products() {
  constexpr int kRepeats = 2000;
  constexpr int kTrials = 8;
  std::array<double, 2> best = {1, 1};
  __asm__ volatile(HONE_EIGHT(HONE_ZERO) HONE_ZERO(8) HONE_ZERO(9)::: HONE_SUMS);
  for (int trial = 0; trial < kTrials; ++trial) {
    const auto begin = base::Clock::now();
    for (int i = 0; i < kRepeats; ++i) __asm__ volatile(HONE_EIGHT(HONE_FMA)::: HONE_SUMS);
    best[0] = std::min(best[0], base::seconds_since(begin));
    const auto middle = base::Clock::now();
    for (int i = 0; i < kRepeats; ++i) __asm__ volatile(HONE_EIGHT(HONE_DOT)::: HONE_SUMS);
    best[1] = std::min(best[1], base::seconds_since(middle));
  }
  return best;
}

}  // namespace

bool has_avx2() {
  static const bool kHas =
      may_use(dnnl::cpu_isa::avx2) && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  return kHas;
}

bool has_avx512() {
  static const bool kHas = may_use(dnnl::cpu_isa::avx512_core) && __builtin_cpu_supports("avx512f") &&
                           __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
                           __builtin_cpu_supports("avx512vl");
  return kHas;
}

bool has_avx512_vnni() {
  static const bool kHas =
      has_avx512() && may_use(dnnl::cpu_isa::avx512_core_vnni) && __builtin_cpu_supports("avx512vnni");
  return kHas;
}

bool has_avx512_bf16() {
  static const bool kHas =
      has_avx512() && may_use(dnnl::cpu_isa::avx512_core_bf16) && __builtin_cpu_supports("avx512bf16");
  return kHas;
}

bool has_fast_avx512_bf16() {
  static const bool kIsFast = has_avx512_bf16() && [] {
    const auto [fma, dot] = time_products();
    // An instruction adds two products where FMA adds one.
    return dot < 2 * fma;
  }();
  return kIsFast;
}

bool has_amx_bf16() {
  static const bool kHas = may_use(dnnl::cpu_isa::avx512_core_amx);
  return kHas;
}

}  // namespace hone::device::cpu
