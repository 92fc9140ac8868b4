// See cpu_probe.hpp. Loops of independent multiply-adds in registers, and sums over buffers of the size of a
// cache.
#include "system/cpu_probe.hpp"

#include <cpuid.h>
#include <immintrin.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <barrier>
#include <functional>
#include <thread>

#include "base/clock.hpp"
#include "system/monitor.hpp"

namespace hone::system {
namespace {

constexpr int kBlocks = 6;
constexpr double kArithmeticSeconds = 0.008;
constexpr double kMemorySeconds = 0.02;
/// Number of accumulator registers: enough to hide the latency of an instruction on two ports.
constexpr size_t kSums = 12;
constexpr int64_t kLoops = 20000;
/// Number of cache lines that are read in parallel.
constexpr size_t kStreams = 4;
/// Floats of one iteration of the widest loop.
constexpr size_t kPart = 16 * kStreams;

/// Results of loops are stored here, so that the compiler does not remove the loops.
std::atomic<float> g_sink{0};
/// Unknown to the compiler.
volatile float g_factor = 0.999F;

/// Does some work and returns its amount.
using Chunk = double (*)();

double multiply_add_sse() {
  const __m128 factor = _mm_set1_ps(g_factor);
  __m128 sums[kSums] = {};
  for (int64_t i = 0; i < kLoops; ++i) {
    for (__m128& sum : sums) sum = _mm_add_ps(_mm_mul_ps(sum, factor), factor);
  }
  __m128 all = sums[0];
  for (const __m128& sum : sums) all = _mm_add_ps(all, sum);
  g_sink = _mm_cvtss_f32(all);
  constexpr double kLanes = 4;
  return 2 * kLanes * kSums * kLoops;
}

__attribute__((target("avx2,fma"))) double multiply_add_avx2() {
  const __m256 factor = _mm256_set1_ps(g_factor);
  __m256 sums[kSums] = {};
  for (int64_t i = 0; i < kLoops; ++i) {
    for (__m256& sum : sums) sum = _mm256_fmadd_ps(sum, factor, factor);
  }
  __m256 all = sums[0];
  for (const __m256& sum : sums) all = _mm256_add_ps(all, sum);
  g_sink = _mm256_cvtss_f32(all);
  constexpr double kLanes = 8;
  return 2 * kLanes * kSums * kLoops;
}

__attribute__((target("avx512f"))) double multiply_add_avx512() {
  const __m512 factor = _mm512_set1_ps(g_factor);
  __m512 sums[kSums] = {};
  for (int64_t i = 0; i < kLoops; ++i) {
    for (__m512& sum : sums) sum = _mm512_fmadd_ps(sum, factor, factor);
  }
  __m512 all = sums[0];
  for (const __m512& sum : sums) all = _mm512_add_ps(all, sum);
  g_sink = _mm512_cvtss_f32(all);
  constexpr double kLanes = 16;
  return 2 * kLanes * kSums * kLoops;
}

__attribute__((target("avx512f,avx512bw,avx512vl,avx512bf16"))) double multiply_add_bf16() {
  const __m512 wide = _mm512_set1_ps(g_factor);
  const __m512bh factor = _mm512_cvtne2ps_pbh(wide, wide);
  __m512 sums[kSums] = {};
  for (int64_t i = 0; i < kLoops; ++i) {
    for (__m512& sum : sums) sum = _mm512_dpbf16_ps(sum, factor, factor);
  }
  __m512 all = sums[0];
  for (const __m512& sum : sums) all = _mm512_add_ps(all, sum);
  g_sink = _mm512_cvtss_f32(all);
  constexpr double kProducts = 32;
  return 2 * kProducts * kSums * kLoops;
}

__attribute__((target("avx512f,avx512bw,avx512vnni"))) double multiply_add_int8() {
  const __m512i factor = _mm512_set1_epi32(static_cast<int>(g_factor * 16));
  __m512i sums[kSums] = {};
  for (int64_t i = 0; i < kLoops; ++i) {
    for (__m512i& sum : sums) sum = _mm512_dpbusd_epi32(sum, factor, factor);
  }
  __m512i all = sums[0];
  for (const __m512i& sum : sums) all = _mm512_add_epi32(all, sum);
  alignas(64) std::array<int32_t, 16> values;
  _mm512_store_si512(values.data(), all);
  g_sink = static_cast<float>(values[0]);
  constexpr double kProducts = 64;
  return 2 * kProducts * kSums * kLoops;
}

/// `count` is a multiple of kPart.
using ReadFunction = float (*)(const float* data, size_t count);

float read_sse(const float* data, size_t count) {
  __m128 sums[kStreams] = {};
  for (size_t i = 0; i < count; i += 4 * kStreams) {
    for (size_t j = 0; j < kStreams; ++j) sums[j] = _mm_add_ps(sums[j], _mm_load_ps(data + i + 4 * j));
  }
  for (const __m128& sum : sums) sums[0] = _mm_add_ps(sums[0], sum);
  return _mm_cvtss_f32(sums[0]);
}

__attribute__((target("avx2"))) float read_avx2(const float* data, size_t count) {
  __m256 sums[kStreams] = {};
  for (size_t i = 0; i < count; i += 8 * kStreams) {
    for (size_t j = 0; j < kStreams; ++j) sums[j] = _mm256_add_ps(sums[j], _mm256_load_ps(data + i + 8 * j));
  }
  for (const __m256& sum : sums) sums[0] = _mm256_add_ps(sums[0], sum);
  return _mm256_cvtss_f32(sums[0]);
}

__attribute__((target("avx512f"))) float read_avx512(const float* data, size_t count) {
  __m512 sums[kStreams] = {};
  for (size_t i = 0; i < count; i += 16 * kStreams) {
    for (size_t j = 0; j < kStreams; ++j) sums[j] = _mm512_add_ps(sums[j], _mm512_load_ps(data + i + 16 * j));
  }
  for (const __m512& sum : sums) sums[0] = _mm512_add_ps(sums[0], sum);
  return _mm512_cvtss_f32(sums[0]);
}

bool has_avx2() { return __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0; }
bool has_avx512() {
  return __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512bw") != 0;
}

/// AMX multiplies tiles of matrices, many times as fast as vector instructions.
bool has_amx() {
  constexpr unsigned kFeatures = 7;
  constexpr unsigned kTiles = 1U << 24U;
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
  return __get_cpuid_count(kFeatures, 0, &a, &b, &c, &d) != 0 && (d & kTiles) != 0;
}

/// The highest rate of all threads together in any block. `work` runs a chunk in a thread and returns its
/// size.
double best_rate(int threads, double seconds, const std::function<double(int)>& work) {
  double best = 0;
  std::vector<double> rates(static_cast<size_t>(threads));
  std::barrier start(threads);
  const auto run = [&](int thread) {
    work(thread);  // touches memory and lets the clock rise
    for (int block = 0; block < kBlocks; ++block) {
      start.arrive_and_wait();
      const auto begin = base::Clock::now();
      double done = 0;
      do done += work(thread);
      while (base::seconds_since(begin) < seconds);
      rates[static_cast<size_t>(thread)] = done / base::seconds_since(begin);
      start.arrive_and_wait();
      if (thread != 0) continue;
      double sum = 0;
      for (const double rate : rates) sum += rate;
      best = std::max(best, sum);
    }
  };
  std::vector<std::thread> others;
  for (int thread = 1; thread < threads; ++thread) others.emplace_back(run, thread);
  run(0);
  for (std::thread& other : others) other.join();
  return best;
}

double arithmetic_rate(int threads, Chunk chunk) {
  return best_rate(threads, kArithmeticSeconds, [chunk](int) { return chunk(); });
}

/// Every thread repeatedly reads its own memory from begin to end.
double reading_rate(int threads, size_t bytes_of_thread) {
  struct Part {
    alignas(64) std::array<float, kPart> values;
  };
  // Limits the queries of the clock, and how much a block can exceed its time.
  constexpr size_t kTurnBytes = size_t{1} << 20;
  const ReadFunction read = has_avx512() ? read_avx512 : has_avx2() ? read_avx2 : read_sse;
  const size_t parts = std::max<size_t>(bytes_of_thread / sizeof(Part), 1);
  const size_t turn = std::min(parts, kTurnBytes / sizeof(Part));
  std::vector<std::vector<Part>> memory(static_cast<size_t>(threads));
  std::vector<size_t> next(static_cast<size_t>(threads), 0);
  return best_rate(threads, kMemorySeconds, [&](int thread) {
    std::vector<Part>& own = memory[static_cast<size_t>(thread)];
    // Allocated by the thread that reads it, so that the memory is local.
    if (own.empty()) own.resize(parts);
    size_t& at = next[static_cast<size_t>(thread)];
    size_t done = 0;
    while (done < kTurnBytes) {
      if (at + turn > parts) at = 0;
      g_sink = read(own[at].values.data(), turn * kPart);
      at += turn;
      done += turn * sizeof(Part);
    }
    return static_cast<double>(done);
  });
}

/// 0 if the system does not report it.
size_t cache_bytes(int name) {
  const int64_t bytes = ::sysconf(name);
  return bytes > 0 ? static_cast<size_t>(bytes) : 0;
}

std::vector<MemoryLevel> measure_levels(int threads) {
  constexpr size_t kMega = size_t{1} << 20;
  const auto count = static_cast<size_t>(threads);
  const size_t second = cache_bytes(_SC_LEVEL2_CACHE_SIZE);
  const size_t third = cache_bytes(_SC_LEVEL3_CACHE_SIZE);
  std::vector<MemoryLevel> levels;
  if (second > 0) levels.push_back({static_cast<double>(second * count), reading_rate(threads, second / 2)});
  // Uses only a part of the cache, because others use it too.
  const size_t of_third = std::min(third / 2, 32 * kMega) / count;
  if (of_third > second) levels.push_back({static_cast<double>(third), reading_rate(threads, of_third)});
  size_t all = std::clamp(2 * third, 64 * kMega, 512 * kMega);
  if (const int64_t free = available_memory(); free > 0) all = std::min(all, static_cast<size_t>(free) / 4);
  levels.push_back({0, reading_rate(threads, all / count)});
  // A disturbed measurement must not make a cache look slower than the next level.
  for (size_t i = levels.size() - 1; i-- > 0;)
    levels[i].bytes_per_second = std::max(levels[i].bytes_per_second, levels[i + 1].bytes_per_second);
  return levels;
}

}  // namespace

CpuRates measure_cpu_rates(int threads) {
  CpuRates rates;
  rates.fp32 = arithmetic_rate(threads, has_avx512() ? multiply_add_avx512
                                        : has_avx2() ? multiply_add_avx2
                                                     : multiply_add_sse);
  if (!has_amx()) {
    // Without the instruction, bf16 is converted and computed in fp32.
    rates.bf16 = has_avx512() && __builtin_cpu_supports("avx512bf16") != 0
                     ? arithmetic_rate(threads, multiply_add_bf16)
                     : rates.fp32;
    if (has_avx512() && __builtin_cpu_supports("avx512vnni") != 0)
      rates.int8 = arithmetic_rate(threads, multiply_add_int8);
  }
  rates.levels = measure_levels(threads);
  return rates;
}

}  // namespace hone::system
