// See schedule.hpp.
#include "trace/collect/schedule.hpp"

#include "base/error.hpp"

namespace hone::trace {

void check_schedule(const Schedule& schedule) {
  static constexpr int64_t kMost = 1'000'000;
  const auto check = [](const char* option, int64_t value, int64_t least) {
    if (value < least || value > kMost) fail_usage("{} must be between {} and {}", option, least, kMost);
  };
  check("--wait", schedule.wait, 0);
  check("--warmup", schedule.warmup, 0);
  check("--active", schedule.active, 1);
  check("--repeat", schedule.repeat, 1);
}

std::vector<int64_t> first_active(const Schedule& schedule) {
  std::vector<int64_t> result;
  for (int64_t i = 0; i < schedule.repeat; ++i)
    result.push_back(i * schedule.cycle() + schedule.wait + schedule.warmup);
  return result;
}

}  // namespace hone::trace
