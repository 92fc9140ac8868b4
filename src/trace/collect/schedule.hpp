// Selects the iterations of a program that are recorded; the names and their meaning are those of
// torch.profiler's schedule.
#pragma once

#include <cstdint>
#include <vector>

namespace hone::trace {

struct Schedule {
  int64_t wait = 1;     ///< first iterations of a cycle, not recorded
  int64_t warmup = 1;   ///< then iterations that are recorded and discarded
  int64_t active = 10;  ///< then iterations that are recorded and kept; at least one
  int64_t repeat = 1;   ///< number of cycles; at least one

  int64_t cycle() const { return wait + warmup + active; }
  int64_t iterations() const { return cycle() * repeat; }
};

/// Throws a usage error that names the option if a number is out of range.
void check_schedule(const Schedule& schedule);

/// The number of the first active iteration of each cycle, counted from 0 over all iterations.
std::vector<int64_t> first_active(const Schedule& schedule);

}  // namespace hone::trace
