// See disturbance.hpp.
#include "engine/search/disturbance.hpp"

#include <chrono>
#include <thread>

namespace hone::engine {
namespace {

constexpr double kMostShare = 0.05;
/// The system counts in ticks of 10 ms for each core.
constexpr double kTicksSeconds = 0.04;
constexpr auto kLook = std::chrono::milliseconds(200);

}  // namespace

bool Disturbance::was_seen() const {
  const OthersUse now = device_.others_use();
  return now.used_s - before_.used_s > kMostShare * (now.capacity_s - before_.capacity_s) + kTicksSeconds;
}

bool is_quiet(const Device& device) {
  const Disturbance disturbance(device);
  std::this_thread::sleep_for(kLook);
  return !disturbance.was_seen();
}

}  // namespace hone::engine
