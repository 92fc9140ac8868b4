// Makes plans on all cores, for as long as anybody wants them: a plan takes up to a second, a search asks
// for hundreds, and networks repeat their convolutions.
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

  /// A plan that is asked for, given up with its last request unless it has begun. The last request of all
  /// waits for those that have, so that nothing is compiled while a process ends and its libraries go.
  class Request {
   public:
    /// Waits for the plan; the error when it cannot be made.
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
  /// To be destroyed after all requests.
  ~PlanCompiler();
  PlanCompiler(const PlanCompiler&) = delete;
  PlanCompiler& operator=(const PlanCompiler&) = delete;

  /// The plan of that key, made unless it is known: there, refused by cuDNN, or asked for by others at the
  /// time. Environment error when there is no thread to make it.
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
