// See clock.hpp.
#include "base/clock.hpp"

#include <array>
#include <ctime>

namespace hone::base {

namespace {

int64_t read_clock(clockid_t clock) {
  timespec time{};
  ::clock_gettime(clock, &time);
  constexpr int64_t kBillion = 1'000'000'000;
  return static_cast<int64_t>(time.tv_sec) * kBillion + time.tv_nsec;
}

}  // namespace

int64_t monotonic_ns() { return read_clock(CLOCK_MONOTONIC); }

int64_t utc_ns() { return read_clock(CLOCK_REALTIME); }

std::string utc_date() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  std::array<char, 32> text{};
  const size_t length = std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return {text.data(), length};
}

}  // namespace hone::base
