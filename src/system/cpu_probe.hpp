// Measures the peak rates of the CPU: multiply-adds per second in each precision, and bytes per second read
// from each level of memory. Floors of layers are computed from these rates.
#pragma once

#include <cstddef>
#include <vector>

namespace hone::system {

/// Memory of this size can be read at this rate.
struct MemoryLevel {
  double bytes = 0;  ///< of all threads together; 0 for main memory
  double bytes_per_second = 0;
};

struct CpuRates {
  /// Operations per second of all threads (a multiply-add counts as two); 0 if the CPU lacks the
  /// instructions, or has wider ones (AMX) that are not measured here.
  double fp32 = 0;
  double bf16 = 0;
  double int8 = 0;
  std::vector<MemoryLevel> levels;  ///< the smallest first, main memory last
};

/// Takes about half a second; the best of several short blocks counts, so that brief disturbances do not
/// matter.
CpuRates measure_cpu_rates(int threads);

}  // namespace hone::system
