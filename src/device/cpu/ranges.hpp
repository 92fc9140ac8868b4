// Work that threads share in contiguous ranges, for loops that keep a position while they go.
#pragma once

#include <omp.h>

#include <algorithm>
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

/// Runs f with at most `most` threads, each with memory of its own: f(begin, end, thread), thread below
/// `most`. Kernels reserve scratch memory for the largest possible number of threads when they are made.
template <class F>
void in_shares(int64_t count, int64_t most, bool parallel, F&& f) {
  const int threads =
      parallel ? static_cast<int>(std::min<int64_t>({most, omp_get_max_threads(), count})) : 1;
  if (threads < 2) {
    f(int64_t{0}, count, int64_t{0});
    return;
  }
#pragma omp parallel num_threads(threads)
  {
    const int64_t shares = omp_get_num_threads();
    const int64_t thread = omp_get_thread_num();
    const int64_t begin = count * thread / shares;
    const int64_t end = count * (thread + 1) / shares;
    if (begin < end) f(begin, end, thread);
  }
}

}  // namespace hone::device::cpu
