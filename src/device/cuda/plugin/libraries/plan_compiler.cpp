// See plan_compiler.hpp.
#include "device/cuda/plugin/libraries/plan_compiler.hpp"

#include <algorithm>
#include <chrono>
#include <system_error>

#include "base/error.hpp"
#include "device/cuda/plugin/libraries/cudnn_errors.hpp"

namespace hone::device::cuda {
namespace {

/// A limit on plans, above the number that a search requests. Beyond it, plans that are not held are dropped;
/// otherwise a process whose shapes change would accumulate them without limit.
constexpr size_t kMostPlans = 16384;

}  // namespace

struct PlanCompiler::Request::Task {
  Task(std::string key_of_plan, Make make)
      : key(std::move(key_of_plan)), run(std::move(make)), plan(run.get_future().share()) {}

  bool is_ready() const { return plan.wait_for(std::chrono::seconds(0)) == std::future_status::ready; }

  /// True if no request is left and the plan failed for a reason that may be temporary (a lack of memory).
  bool has_failed() const {
    if (requests > 0 || !is_ready()) return false;
    try {
      plan.get();
      return false;
    } catch (const CudnnRefusal&) {
      return false;
    } catch (const std::exception&) {
      return true;
    }
  }

  /// True if no request is left and the plan is either not held or has failed.
  bool is_unused() const {
    if (requests > 0 || !is_ready()) return false;
    try {
      return plan.get().use_count() <= 1;
    } catch (const std::exception&) {
      return true;
    }
  }

  std::string key;
  std::packaged_task<PlanPointer()> run;
  std::shared_future<PlanPointer> plan;
  int requests = 0;
  bool begun = false;
};

PlanCompiler::Request::~Request() {
  if (task_ != nullptr) compiler_.release(*task_);
}

PlanPointer PlanCompiler::Request::get() const { return task_->plan.get(); }

PlanCompiler::~PlanCompiler() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    waiting_.clear();
    tasks_.clear();
  }
  wake_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

std::shared_ptr<const PlanCompiler::Request> PlanCompiler::request(const std::string& key, Make make) {
  const std::shared_ptr<Request> request(new Request(*this));
  const std::lock_guard lock(mutex_);
  auto known = tasks_.find(key);
  if (known != tasks_.end() && known->second->has_failed()) {
    tasks_.erase(known);
    known = tasks_.end();
  }
  request->task_ = known != tasks_.end() ? known->second : start(key, std::move(make));
  ++request->task_->requests;
  ++requests_;
  idle_.notify_all();
  return request;
}

/// If it throws, only a task without requests remains, which work() skips.
std::shared_ptr<PlanCompiler::Task> PlanCompiler::start(const std::string& key, Make make) {
  if (tasks_.size() >= kMostPlans) drop_unused();
  auto task = std::make_shared<Task>(key, std::move(make));
  start_thread();
  waiting_.push_back(task);
  tasks_.emplace(key, task);
  wake_.notify_one();
  return task;
}

void PlanCompiler::start_thread() {
  if (threads_.size() >= std::max(1u, std::thread::hardware_concurrency())) return;
  try {
    threads_.emplace_back([this] { work(); });
  } catch (const std::system_error& error) {
    if (threads_.empty()) fail_environment("no thread can be started: {}", error.what());
  }
}

void PlanCompiler::release(Task& task) {
  std::unique_lock lock(mutex_);
  if (--task.requests == 0 && !task.begun) tasks_.erase(task.key);  // work() skips it
  if (--requests_ == 0) idle_.wait(lock, [this] { return running_ == 0 || requests_ > 0; });
}

void PlanCompiler::drop_unused() {
  std::erase_if(tasks_, [](const auto& entry) { return entry.second->is_unused(); });
}

void PlanCompiler::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    wake_.wait(lock, [this] { return stopping_ || !waiting_.empty(); });
    if (stopping_) return;
    const std::shared_ptr<Task> task = std::move(waiting_.front());
    waiting_.pop_front();
    if (task->requests == 0) continue;
    task->begun = true;
    ++running_;
    lock.unlock();
    task->run();
    lock.lock();
    if (--running_ == 0) idle_.notify_all();
  }
}

}  // namespace hone::device::cuda
