// Which iterations of a program are recorded, with the words and the meaning of torch.profiler's schedule.
#pragma once

#include <cstdint>
#include <vector>

namespace hone::trace {

struct Schedule {
  int64_t wait = 1;     ///< iterations of a cycle that are not recorded
  int64_t warmup = 1;   ///< then iterations that are recorded and thrown away
  int64_t active = 10;  ///< then iterations that are kept; at least one
  int64_t repeat = 1;   ///< cycles; at least one

  int64_t cycle() const { return wait + warmup + active; }
  int64_t iterations() const { return cycle() * repeat; }
};

/// Usage error naming the option when a number is out of range.
void check_schedule(const Schedule& schedule);

/// The number of the first active iteration of each cycle, counted from 0 over all iterations.
std::vector<int64_t> first_active(const Schedule& schedule);

}  // namespace hone::trace
