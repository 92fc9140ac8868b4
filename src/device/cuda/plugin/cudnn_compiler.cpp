// See cudnn_compiler.hpp.
#include "device/cuda/plugin/cudnn_compiler.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <future>
#include <map>
#include <mutex>
#include <thread>

namespace hone::device::cuda {
namespace {

using PlanFuture = std::shared_future<std::shared_ptr<const CudnnPlan>>;

/// From so many plans on, more than a search asks for, those that nobody holds are dropped: a process whose
/// shapes change would gather them without end.
constexpr size_t kMostPlans = 16384;

bool is_ready(const PlanFuture& plan) {
  return plan.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
}

/// Whether it could not be made, as when there was no memory at the time.
bool has_failed(const PlanFuture& plan) {
  if (!is_ready(plan)) return false;
  try {
    plan.get();
    return false;
  } catch (const std::exception&) {
    return true;
  }
}

std::string key_of(const CudnnConvolution& c, std::string_view config) {
  std::string key =
      fmt::format("{};{};{};{};{};{};{};{};{}", config, precision_name(c.precision), fmt::join(c.x, ","),
                  fmt::join(c.w, ","), fmt::join(c.y, ","), fmt::join(c.strides, ","),
                  fmt::join(c.dilations, ","), fmt::join(c.pads_begin, ","), fmt::join(c.pads_end, ","));
  for (const CudnnPointwise& op : c.pointwise) {
    key += fmt::format(";{},{},{},{},{},{},{}", static_cast<int>(op.mode), op.operand, op.per_channel,
                       op.lower, op.upper, op.slope, op.bounded);
  }
  return key;
}

class Compiler {
 public:
  ~Compiler() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
      tasks_.clear();
      plans_.clear();  // before the threads end, and with them the handles that the plans were made with
    }
    wake_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }

  PlanFuture submit(const CudnnConvolution& convolution, std::string_view config) {
    const std::lock_guard lock(mutex_);
    const std::string key = key_of(convolution, config);
    if (const auto known = plans_.find(key); known != plans_.end()) return known->second;
    if (plans_.size() >= kMostPlans) {
      std::erase_if(plans_, [](const auto& entry) {
        return is_ready(entry.second) && (has_failed(entry.second) || entry.second.get().use_count() == 1);
      });
    }
    auto task = std::make_shared<std::packaged_task<std::shared_ptr<const CudnnPlan>()>>(
        [convolution, config = std::string(config)] {
          return std::make_shared<const CudnnPlan>(std::make_shared<const CudnnGraph>(convolution), config);
        });
    PlanFuture future = task->get_future().share();
    plans_.emplace(key, future);
    tasks_.emplace_back([task] { (*task)(); });
    const size_t wanted = std::max(1u, std::thread::hardware_concurrency());
    if (threads_.size() < wanted) threads_.emplace_back([this] { work(); });
    wake_.notify_one();
    return future;
  }

 private:
  void work() {
    for (;;) {
      std::function<void()> task;
      {
        std::unique_lock lock(mutex_);
        wake_.wait(lock, [this] { return stopping_ || !tasks_.empty(); });
        if (stopping_) return;
        task = std::move(tasks_.front());
        tasks_.pop_front();
      }
      task();
    }
  }

  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::function<void()>> tasks_;
  std::map<std::string, PlanFuture> plans_;
  std::vector<std::thread> threads_;
  bool stopping_ = false;
};

Compiler& compiler() {
  static Compiler instance;
  return instance;
}

}  // namespace

void start_compiling(const CudnnConvolution& convolution, const std::vector<std::string>& configs) {
  for (const std::string& config : configs) compiler().submit(convolution, config);
}

std::shared_ptr<const CudnnPlan> compiled_plan(const CudnnConvolution& convolution, std::string_view config) {
  return compiler().submit(convolution, config).get();
}

}  // namespace hone::device::cuda
