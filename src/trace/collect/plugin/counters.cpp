// See counters.hpp.
#include "trace/collect/plugin/counters.hpp"

#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <exception>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "trace/collect/plugin/pm_sampler.hpp"
#include "trace/collect/plugin/raw_writer.hpp"

namespace hone::trace::inject {
namespace {

constexpr uint32_t kLoss = 2;
constexpr auto kPeriod = std::chrono::milliseconds(10);
constexpr double kNanoseconds = 1e9;

struct Reader {
  uint64_t interval_ns = 0;  ///< 0: no counters are wanted
  std::mutex mutex;
  std::condition_variable wake;
  std::set<uint32_t> devices;  ///< the devices that the process uses
  bool stopping = false;
  std::thread thread;
};

/// Never destroyed: the driver calls back while the process exits.
Reader& reader() {
  static auto* instance = new Reader;
  return *instance;
}

/// The samplers of the GPUs; a GPU that could not be sampled has none.
class Samplers {
 public:
  void begin(const std::set<uint32_t>& devices) {
    for (const uint32_t device : devices) {
      if (!seen_.insert(device).second) continue;
      auto sampler = std::make_unique<PmSampler>(device);
      if (works([&] { sampler->start(reader().interval_ns); })) samplers_.push_back(std::move(sampler));
    }
  }

  void drain() {
    std::erase_if(samplers_, [](const auto& sampler) { return !works([&] { sampler->drain(); }); });
  }

  void stop() {
    for (const auto& sampler : samplers_) works([&] { sampler->stop(); });
  }

 private:
  template <class Action>
  static bool works(const Action& action) {
    try {
      action();
      return true;
    } catch (const std::exception& error) {
      report_loss(kLoss, "counters", error.what(), 0);
      return false;
    }
  }

  std::set<uint32_t> seen_;
  std::vector<std::unique_ptr<PmSampler>> samplers_;
};

/// Stops reading, whichever thread ends the program: functions that are registered with atexit() after CUPTI
/// was loaded run before the objects that CUPTI needs are destroyed.
void read_until_stopped() {
  Reader& r = reader();
  bool told_the_end = false;
  Samplers samplers;
  std::unique_lock lock(r.mutex);
  while (!r.stopping) {
    const std::set<uint32_t> devices = r.devices;
    lock.unlock();  // CUPTI has its own locks, and holds them when it calls watch_device
    samplers.begin(devices);
    samplers.drain();
    if (!devices.empty() && !std::exchange(told_the_end, true)) std::atexit(stop_counters);
    lock.lock();
    r.wake.wait_for(lock, kPeriod, [&] { return r.stopping; });
  }
  lock.unlock();
  samplers.stop();
}

/// Ends the thread when the main thread calls exit() or returns from main, before any function that was
/// registered with atexit(): those destroy the globals of the libraries that CUPTI loads for counters, while
/// the thread may still run in them.
class StopsFirst {
 public:
  ~StopsFirst() { stop_counters(); }
  void arm() {}
};

void stop_before_others() {
  if (getpid() != gettid()) return;
  static thread_local StopsFirst stops_first;
  stops_first.arm();
}

}  // namespace

void start_counters() {
  Reader& r = reader();
  const char* rate = std::getenv("HONE_TRACE_COUNTERS");
  const double per_second = rate == nullptr ? 0 : std::atof(rate);
  if (per_second <= 0) return;
  if (const std::string problem = load_sampling_functions(); !problem.empty())
    return report_loss(kLoss, "counters", problem, 0);
  r.interval_ns = static_cast<uint64_t>(kNanoseconds / per_second);
  stop_before_others();
  r.thread = std::thread(read_until_stopped);
}

void watch_device(uint32_t device) {
  Reader& r = reader();
  if (r.interval_ns == 0) return;
  const std::lock_guard lock(r.mutex);
  r.devices.insert(device);
}

void stop_counters() {
  Reader& r = reader();
  if (is_abandoned() || !r.thread.joinable()) return;  // a forked child has no threads to wait for
  {
    const std::lock_guard lock(r.mutex);
    r.stopping = true;
  }
  r.wake.notify_all();
  r.thread.join();
}

}  // namespace hone::trace::inject
