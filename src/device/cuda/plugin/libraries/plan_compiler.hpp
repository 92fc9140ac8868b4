// Compiles plans on all cores as long as they are requested: a plan takes up to a second, a search requests
// hundreds, and networks repeat their convolutions.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace hone::device::cuda {

class CudnnPlan;
using PlanPointer = std::shared_ptr<const CudnnPlan>;

class PlanCompiler {
 public:
  /// The function that makes a plan; it may throw.
  using Make = std::function<PlanPointer()>;

  /// A request for a plan. A plan that has not begun is cancelled with its last request. The last request of
  /// all waits for plans that have begun, so that nothing is compiled while a process ends and its libraries
  /// are unloaded.
  class Request {
   public:
    /// Waits for the plan; throws the error if it cannot be made.
    PlanPointer get() const;
    ~Request();
    Request(const Request&) = delete;
    Request& operator=(const Request&) = delete;

   private:
    friend class PlanCompiler;
    struct Task;
    explicit Request(PlanCompiler& compiler) : compiler_(compiler) {}

    PlanCompiler& compiler_;
    std::shared_ptr<Task> task_;
  };

  PlanCompiler() = default;
  /// Must be destroyed after all requests.
  ~PlanCompiler();
  PlanCompiler(const PlanCompiler&) = delete;
  PlanCompiler& operator=(const PlanCompiler&) = delete;

  /// Requests the plan with this key. It is made unless it already exists, was refused by cuDNN, or is being
  /// made. Environment error if no thread can be started.
  std::shared_ptr<const Request> request(const std::string& key, Make make);

 private:
  using Task = Request::Task;

  std::shared_ptr<Task> start(const std::string& key, Make make);
  void start_thread();
  void release(Task& task);
  void work();
  void drop_unused();

  std::mutex mutex_;
  std::condition_variable wake_;
  std::condition_variable idle_;
  std::deque<std::shared_ptr<Task>> waiting_;
  std::map<std::string, std::shared_ptr<Task>> tasks_;
  std::vector<std::thread> threads_;
  size_t requests_ = 0;
  size_t running_ = 0;
  bool stopping_ = false;
};

}  // namespace hone::device::cuda
