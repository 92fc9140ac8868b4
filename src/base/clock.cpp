// See clock.hpp.
#include "base/clock.hpp"

#include <array>
#include <ctime>

namespace hone::base {

int64_t monotonic_ns() {
  timespec time{};
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  constexpr int64_t kBillion = 1'000'000'000;
  return static_cast<int64_t>(time.tv_sec) * kBillion + time.tv_nsec;
}

std::string utc_date() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  std::array<char, 32> text{};
  const size_t length = std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return {text.data(), length};
}

}  // namespace hone::base
