// Measures what the CPU can do at best: multiply-adds a second in each precision, and bytes a second that are
// read from each level of memory. Floors of layers are computed from these rates.
#pragma once

#include <cstddef>
#include <vector>

namespace hone::system {

/// Memory of this size that is read at this rate.
struct MemoryLevel {
  double bytes = 0;  ///< of all threads together; 0 for main memory, which holds the rest
  double bytes_per_second = 0;
};

struct CpuRates {
  /// Operations a second of all threads, a multiply-add is two; 0 where the instructions are not there, or
  /// where there are wider ones (AMX) that are not measured here.
  double fp32 = 0;
  double bf16 = 0;
  double int8 = 0;
  std::vector<MemoryLevel> levels;  ///< the smallest first, main memory last
};

/// Takes about half a second; the best of several short blocks counts, so that a brief disturbance does no
/// harm.
CpuRates measure_cpu_rates(int threads);

}  // namespace hone::system
