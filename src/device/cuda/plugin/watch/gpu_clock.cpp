// See gpu_clock.hpp.
#include "device/cuda/plugin/watch/gpu_clock.hpp"

#include <algorithm>
#include <atomic>
#include <new>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "device/cuda/plugin/kernels/common/clock_echo.hpp"

namespace hone::device::cuda {
namespace {

constexpr uint32_t kQuestions = 32;
constexpr int64_t kPatience = 200'000'000;

/// Returns false if the kernel did not answer in time.
bool wait_for(const std::atomic_ref<uint32_t>& answered, uint32_t question, int64_t since) {
  while (answered.load(std::memory_order_acquire) != question) {
    if (base::monotonic_ns() - since > kPatience) return false;
  }
  return true;
}

}  // namespace

ClockReading GpuClock::ask(const Stream& stream) {
  const PinnedBytes memory(sizeof(ClockEcho));
  auto* const echo = new (memory.data()) ClockEcho{};
  check(launch_clock_echo(echo, kQuestions, stream.get()), "asking the GPU for the time");
  const std::atomic_ref asked(echo->asked);
  const std::atomic_ref answered(echo->answered);
  ClockReading best{.uncertainty_ns = kPatience};
  bool alive = true;
  for (uint32_t question = 1; alive && question <= kQuestions; ++question) {
    const int64_t start = base::monotonic_ns();
    asked.store(question, std::memory_order_release);
    alive = wait_for(answered, question, start);
    const int64_t half = (base::monotonic_ns() - start) / 2;
    // The first answer includes the start of the kernel, so it is not used.
    if (alive && question > 1 && half < best.uncertainty_ns)
      best = {static_cast<int64_t>(echo->time), start + half, half};
  }
  stream.synchronize();
  if (!alive) fail_environment("the GPU did not tell its time within {} ms", kPatience / 1'000'000);
  return best;
}

int64_t GpuClock::uncertainty_ns() const { return std::max(first_.uncertainty_ns, last_.uncertainty_ns); }

}  // namespace hone::device::cuda
