// Plans that are asked for and given up: none is made that nobody wants, none is left running.
#include "device/cuda/plugin/libraries/plan_compiler.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <stdexcept>

#include "base/error.hpp"
#include "device/cuda/plugin/libraries/cudnn_errors.hpp"

namespace {
std::atomic<bool> no_more_threads = false;
}  // namespace

/// The system's, unless it is to have no room for another thread.
extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*run)(void*),
                              void* argument) {
  using Create = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  static const auto kSystem = reinterpret_cast<Create>(dlsym(RTLD_NEXT, "pthread_create"));
  return no_more_threads ? EAGAIN : kSystem(thread, attributes, run, argument);
}

namespace hone::device::cuda {
namespace {

using Requests = std::vector<std::shared_ptr<const PlanCompiler::Request>>;

/// More than there are threads.
size_t many() { return 8 * std::max(1u, std::thread::hardware_concurrency()); }

/// Holds up all threads of the compiler until it is opened.
class Gate {
 public:
  PlanPointer pass() {
    ++begun;
    opened_.wait();
    ++ended;
    return nullptr;
  }
  void open() { open_.set_value(); }

  std::atomic<size_t> begun = 0;
  std::atomic<size_t> ended = 0;

 private:
  std::promise<void> open_;
  std::shared_future<void> opened_ = open_.get_future().share();
};

TEST(PlanCompiler, MakesAPlanOncePerKey) {
  PlanCompiler compiler;
  std::atomic<int> made = 0;
  const auto make = [&] { return ++made, PlanPointer(); };
  const auto first = compiler.request("a", make);
  const auto second = compiler.request("a", make);
  const auto other = compiler.request("b", make);
  for (const auto& request : {first, second, other}) request->get();
  compiler.request("a", make)->get();
  EXPECT_EQ(made, 2);
}

TEST(PlanCompiler, GivesUpWhatNobodyWantsAndWaitsForWhatHasBegun) {
  PlanCompiler compiler;
  Gate gate;
  Requests requests;
  for (size_t i = 0; i < many(); ++i)
    requests.push_back(compiler.request(std::to_string(i), [&] { return gate.pass(); }));
  while (gate.begun < std::max(1u, std::thread::hardware_concurrency())) std::this_thread::yield();
  std::atomic<bool> released = false;
  std::thread holder([&] {
    requests.clear();
    released = true;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_FALSE(released) << "plans were left running";
  gate.open();
  holder.join();
  EXPECT_EQ(gate.ended, gate.begun);
  EXPECT_LT(gate.begun, many()) << "plans were made that nobody wanted";
}

TEST(PlanCompiler, MakesAPlanThatWasGivenUpWhenItIsAskedForAgain) {
  PlanCompiler compiler;
  Gate gate;
  Requests blocking;
  for (size_t i = 0; i < many(); ++i)
    blocking.push_back(compiler.request(std::to_string(i), [&] { return gate.pass(); }));
  std::atomic<int> made = 0;
  const auto make = [&] { return ++made, PlanPointer(); };
  (void)compiler.request("wanted", make);
  const auto again = compiler.request("wanted", make);
  gate.open();
  again->get();
  EXPECT_EQ(made, 1);
}

TEST(PlanCompiler, WorksWithTheThreadsThatItGets) {
  PlanCompiler compiler;
  const auto make = [] { return PlanPointer(); };
  no_more_threads = true;
  EXPECT_THROW(compiler.request("a", make), Error);
  no_more_threads = false;
  compiler.request("a", make)->get();
  no_more_threads = true;
  compiler.request("b", make)->get();
  no_more_threads = false;
}

TEST(PlanCompiler, GivesTheErrorToWhoeverAsks) {
  PlanCompiler compiler;
  const auto request = compiler.request("bad", []() -> PlanPointer { throw std::runtime_error("refused"); });
  EXPECT_THROW(request->get(), std::runtime_error);
  EXPECT_THROW(compiler.request("bad", [] { return PlanPointer(); })->get(), std::runtime_error);
}

TEST(PlanCompiler, TriesAgainWhatFailedForAReasonThatMayPass) {
  PlanCompiler compiler;
  const auto fails = []() -> PlanPointer { fail_environment("the GPU's memory is full"); };
  EXPECT_THROW(compiler.request("full", fails)->get(), Error);
  EXPECT_EQ(compiler.request("full", [] { return PlanPointer(); })->get(), nullptr);
}

TEST(PlanCompiler, KeepsWhatIsRefused) {
  PlanCompiler compiler;
  const auto refuses = []() -> PlanPointer { throw CudnnRefusal(ErrorKind::kEnvironment, "no such engine"); };
  EXPECT_THROW(compiler.request("odd", refuses)->get(), CudnnRefusal);
  EXPECT_THROW(compiler.request("odd", [] { return PlanPointer(); })->get(), CudnnRefusal);
}

}  // namespace
}  // namespace hone::device::cuda
