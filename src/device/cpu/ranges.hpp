// Work that threads share in contiguous ranges, for loops that keep a position while they go.
#pragma once

#include <omp.h>

#include <cstdint>

namespace hone::device::cpu {

/// Calls f(begin, end) for ranges that make up [0, count): one for each thread, or all at once.
template <class F>
void in_ranges(int64_t count, bool parallel, F&& f) {
  if (!parallel || count < 2) {
    f(int64_t{0}, count);
    return;
  }
#pragma omp parallel
  {
    const int64_t threads = omp_get_num_threads();
    const int64_t thread = omp_get_thread_num();
    const int64_t begin = count * thread / threads;
    const int64_t end = count * (thread + 1) / threads;
    if (begin < end) f(begin, end);
  }
}

}  // namespace hone::device::cpu
