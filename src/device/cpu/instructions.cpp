// See instructions.hpp.
#include "device/cpu/instructions.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <dnnl.hpp>
#include <vector>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/spelling.hpp"

namespace hone::device::cpu {
namespace {

struct LevelRow {
  Level level;
  std::string_view name;
  dnnl::cpu_isa isa;
};

constexpr std::array kLevels = {
    LevelRow{Level::kAvx2, "AVX2", dnnl::cpu_isa::avx2},
    LevelRow{Level::kAvx512, "AVX-512", dnnl::cpu_isa::avx512_core},
    LevelRow{Level::kAvx512Vnni, "AVX-512-VNNI", dnnl::cpu_isa::avx512_core_vnni},
    LevelRow{Level::kAvx512Bf16, "AVX-512-BF16", dnnl::cpu_isa::avx512_core_bf16},
    LevelRow{Level::kAmx, "AMX", dnnl::cpu_isa::avx512_core_amx},
};

std::optional<Level> narrowed;

const LevelRow& row_of(Level level) { return kLevels[static_cast<size_t>(level)]; }

/// Sets of instructions are sets of bits.
bool has(dnnl::cpu_isa all, dnnl::cpu_isa part) {
  return (static_cast<unsigned>(all) & static_cast<unsigned>(part)) == static_cast<unsigned>(part);
}

/// Letters and digits, small.
std::string plain(std::string_view name) {
  std::string text;
  for (const unsigned char c : name) {
    if (std::isalnum(c) != 0) text += static_cast<char>(std::tolower(c));
  }
  return text;
}

/// The user has set the highest instruction set, which the library's own call would replace.
bool is_limited_by_user() {
  return std::getenv("ONEDNN_MAX_CPU_ISA") != nullptr || std::getenv("DNNL_MAX_CPU_ISA") != nullptr;
}

#define HONE_BF16 __attribute__((target("avx512f,avx512bf16")))

/// Eight sums in eight registers, so that none waits for another.
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

std::string_view level_name(Level level) { return row_of(level).name; }

Level parse_level(std::string_view name) {
  std::vector<std::string_view> names;
  std::vector<std::string> plain_names;
  for (const LevelRow& row : kLevels) {
    if (plain(row.name) == plain(name)) return row.level;
    names.push_back(row.name);
    plain_names.push_back(plain(row.name));
  }
  const auto nearest = base::nearest_name(plain(name), plain_names);
  const auto at = nearest ? std::ranges::find(plain_names, *nearest) - plain_names.begin() : -1;
  fail_usage("'{}' is no level of instructions{}; choose one of {}", name,
             at < 0 ? "" : fmt::format(" (did you mean {}?)", names[static_cast<size_t>(at)]),
             fmt::join(names, ", "));
}

bool has_level(Level level) { return has(dnnl::get_effective_cpu_isa(), row_of(level).isa); }

bool has_avx2() {
  static const bool kHas = has_level(Level::kAvx2);
  return kHas;
}

bool has_avx512() {
  static const bool kHas = has_level(Level::kAvx512);
  return kHas;
}

bool has_avx512_vnni() {
  static const bool kHas = has_level(Level::kAvx512Vnni);
  return kHas;
}

bool has_avx512_bf16() {
  static const bool kHas = has_level(Level::kAvx512Bf16);
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
  static const bool kHas = has_level(Level::kAmx);
  return kHas;
}

std::optional<Level> highest_level() {
  std::optional<Level> highest;
  for (const LevelRow& row : kLevels) {
    if (has_level(row.level)) highest = row.level;
  }
  return highest;
}

std::string instructions_text() {
  const dnnl::cpu_isa isa = dnnl::get_effective_cpu_isa();
  switch (isa) {
    case dnnl::cpu_isa::sse41: return "SSE4.1";
    case dnnl::cpu_isa::avx: return "AVX";
    case dnnl::cpu_isa::avx2: return "AVX2";
    case dnnl::cpu_isa::avx2_vnni: return "AVX2 with VNNI";
    case dnnl::cpu_isa::avx512_core: return "AVX-512";
    case dnnl::cpu_isa::avx512_core_vnni: return "AVX-512 with VNNI";
    case dnnl::cpu_isa::avx512_core_bf16: return "AVX-512 with BF16";
    case dnnl::cpu_isa::avx512_core_amx: return "AVX-512 with AMX";
    default: return fmt::format("oneDNN's instruction set {}", static_cast<int>(isa));
  }
}

void narrow_to(Level level) {
  const dnnl::cpu_isa wanted = row_of(level).isa;
  // Refused where it comes too late, which the comparison below finds.
  if (!is_limited_by_user()) dnnl::set_max_cpu_isa(wanted);
  const dnnl::cpu_isa used = dnnl::get_effective_cpu_isa();
  if (!has(used, wanted)) {
    const auto highest = highest_level();
    fail_environment("an engine for {} has to be tuned on a CPU with it, this one has {}; build it there{}",
                     level_name(level), instructions_text(),
                     highest ? fmt::format(", or here for {}", level_name(*highest)) : "");
  }
  if (used != wanted) {
    fail_environment("kernels use {} already, which cannot be narrowed to {} any more; {}",
                     instructions_text(), level_name(level),
                     is_limited_by_user() ? "unset ONEDNN_MAX_CPU_ISA"
                                          : "build the portable engine first, or in a process of its own");
  }
  narrowed = level;
}

std::optional<Level> narrowed_level() { return narrowed; }

}  // namespace hone::device::cpu
