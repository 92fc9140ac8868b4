// Each rule by which host threads wait for each other, on a trace made for it: what is on the path, what
// waited.
#include "analysis/graph/dependencies/threads.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/program_trace.hpp"
#include "analysis/questions/critical_path.hpp"
#include "analysis/questions/what_if.hpp"

namespace hone::analysis {
namespace {

using ::testing::ElementsAre;
using trace::HostKind;
using trace::ThreadOperation;

/// "0-10 t1 <Other>" for each segment; "t1" is the first thread of the trace.
std::vector<std::string> segments(const CriticalPath& path) {
  std::vector<std::string> found;
  for (const PathSegment& segment : path.segments) {
    found.push_back(fmt::format("{}-{} t{} {}", segment.span.start, segment.span.end, segment.thread + 1,
                                path.functions[static_cast<size_t>(segment.function)].name));
  }
  return found;
}

Time waiting(const CriticalPath& path, const std::string& name) {
  for (const FunctionTime& function : path.functions) {
    if (function.name == name) return function.waiting;
  }
  ADD_FAILURE() << name << " has no row";
  return -1;
}

int64_t doubted(const CriticalPath& path, const std::string& part) {
  int64_t count = 0;
  for (const trace::Doubt& doubt : path.doubts) {
    if (doubt.text.find(part) != std::string::npos) count += doubt.count;
  }
  return count;
}

TEST(Threads, AJoinWaitsForTheEndOfTheThreadAndThePathGoesThroughIt) {
  ProgramTrace program;
  program.host(HostKind::kRange, "setup", 0, 10);
  program.create_thread(2, 10, 15);
  program.host(HostKind::kRange, "work", 15, 80, 2);
  program.wake(ThreadOperation::kExit, 2, 90, 2);
  program.wait_for_thread(ThreadOperation::kJoin, "pthread_join", 2, 30, 95);
  program.host(HostKind::kRange, "rest", 95, 120);
  const CriticalPath path = critical_path(program.finish());
  EXPECT_THAT(segments(path),
              ElementsAre("0-10 t1 <Other> in setup", "10-15 t1 pthread_create", "15-80 t2 <Other> in work",
                          "80-90 t2 <Other>", "90-95 t1 pthread_join", "95-120 t1 <Other> in rest"));
  EXPECT_EQ(waiting(path, "pthread_join"), 60);
  EXPECT_EQ(path.wall, 120);
}

TEST(Threads, AJoinOfAThreadThatHasEndedDoesNotWait) {
  ProgramTrace program;
  program.create_thread(2, 0, 5);
  program.wake(ThreadOperation::kExit, 2, 20, 2);
  program.wait_for_thread(ThreadOperation::kJoin, "pthread_join", 2, 30, 32);
  const CriticalPath path = critical_path(program.finish());
  EXPECT_THAT(segments(path),
              ElementsAre("0-2 t1 pthread_create", "2-30 t1 <Other>", "30-32 t1 pthread_join"));
  EXPECT_EQ(waiting(path, "pthread_join"), 0);
}

TEST(Threads, ALockWaitsForTheLastUnlockByAnother) {
  ProgramTrace program;
  program.create_thread(2, 0, 5);
  program.create_thread(3, 2, 6);
  program.wake(ThreadOperation::kUnlock, 77, 30, 2);
  program.wake(ThreadOperation::kUnlock, 77, 50, 3);
  program.wake(ThreadOperation::kUnlock, 78, 55, 2);  // another mutex
  program.wait_for_thread(ThreadOperation::kLock, "pthread_mutex_lock", 77, 10, 58);
  program.host(HostKind::kRange, "held", 58, 70);
  const CriticalPath path = critical_path(program.finish());
  EXPECT_THAT(segments(path), ElementsAre("0-6 t1 pthread_create", "6-50 t3 <Other>",
                                          "50-58 t1 pthread_mutex_lock", "58-70 t1 <Other> in held"));
  EXPECT_EQ(waiting(path, "pthread_mutex_lock"), 40);
}

TEST(Threads, ALockWithoutAnUnlockIsTimeOfItsCall) {
  ProgramTrace program;
  program.wake(ThreadOperation::kUnlock, 77, 5, 2);
  program.host(HostKind::kRange, "first", 0, 10);
  program.wait_for_thread(ThreadOperation::kLock, "pthread_mutex_lock", 77, 10, 58);
  const CriticalPath path = critical_path(program.finish());
  EXPECT_THAT(segments(path), ElementsAre("0-10 t2 <Other> in first", "10-58 t2 pthread_mutex_lock"));
  EXPECT_EQ(waiting(path, "pthread_mutex_lock"), 0);
}

TEST(Threads, WaitsForConditionsAndSemaphoresEndWithASignalOrAPost) {
  for (const auto& [wait, wake, name] :
       {std::tuple{ThreadOperation::kConditionWait, ThreadOperation::kSignal, "pthread_cond_wait"},
        std::tuple{ThreadOperation::kSemaphoreWait, ThreadOperation::kPost, "sem_wait"}}) {
    ProgramTrace program;
    program.create_thread(2, 1, 5);
    program.wake(wake, 77, 8, 2);  // before anybody waited
    program.wake(wake, 77, 50, 2);
    program.wait_for_thread(wait, name, 77, 10, 54);
    const CriticalPath path = critical_path(program.finish());
    EXPECT_THAT(segments(path),
                ElementsAre("1-5 t1 pthread_create", "5-50 t2 <Other>", fmt::format("50-54 t1 {}", name)));
    EXPECT_EQ(waiting(path, name), 40);
  }
}

TEST(Threads, OneThatWaitsMayLetAnotherGoOn) {
  ProgramTrace program;
  program.create_thread(2, 0, 5);
  // The first thread waits for the GPU until 90, but another call inside of that unlocks at 40.
  program.launch("k", 10, 12, 90, 8);
  program.wait_for_stream(8, 14, 92);
  program.wake(ThreadOperation::kUnlock, 77, 40, 1);
  program.wait_for_thread(ThreadOperation::kLock, "pthread_mutex_lock", 77, 10, 45, 2);
  program.host(HostKind::kRange, "last", 45, 200, 2);
  const EventGraph graph = build_event_graph(program.finish());
  const CriticalPath path = critical_path(graph);
  EXPECT_THAT(segments(path),
              ElementsAre("0-2 t1 pthread_create", "2-10 t1 <Other>", "10-12 t1 cudaLaunchKernel",
                          "12-14 t1 <Other>", "14-40 t1 cudaStreamSynchronize", "40-45 t2 pthread_mutex_lock",
                          "45-200 t2 <Other> in last"));
  EXPECT_EQ(waiting(path, "cudaStreamSynchronize"), 76);
}

TEST(Threads, AWaitInsideAnotherCallIsPartOfIt) {
  ProgramTrace program;
  program.create_thread(2, 0, 5);
  program.wake(ThreadOperation::kUnlock, 77, 50, 2);
  program.call("cudaMalloc", 10, 60);
  program.wait_for_thread(ThreadOperation::kLock, "pthread_mutex_lock", 77, 20, 54);
  const CriticalPath path = critical_path(program.finish());
  EXPECT_THAT(segments(path), ElementsAre("0-2 t1 pthread_create", "2-10 t1 <Other>", "10-60 t1 cudaMalloc"));
}

TEST(Threads, ObjectsAreAProcessesOwn) {
  ProgramTrace program;
  program.wait_for_thread(ThreadOperation::kLock, "pthread_mutex_lock", 77, 10, 45);
  const int32_t other = program.trace().thread_index(2, 8);
  program.trace().thread_syncs.push_back({40, 40, ThreadOperation::kUnlock, other, 77});
  EXPECT_EQ(waiting(critical_path(program.finish()), "pthread_mutex_lock"), 0);
}

TEST(Threads, TwoThatWakeEachOtherAtOneMomentAreWalkedThroughOnce) {
  ProgramTrace program;
  program.wait_for_thread(ThreadOperation::kLock, "pthread_mutex_lock", 77, 10, 50, 1);
  program.wait_for_thread(ThreadOperation::kLock, "pthread_mutex_lock", 78, 10, 50, 2);
  program.wake(ThreadOperation::kUnlock, 78, 50, 1);
  program.wake(ThreadOperation::kUnlock, 77, 50, 2);
  const EventGraph graph = build_event_graph(program.finish());
  const CriticalPath path = critical_path(graph);
  EXPECT_THAT(segments(path), ElementsAre("10-50 t2 pthread_mutex_lock"));
  EXPECT_EQ(waiting(path, "pthread_mutex_lock"), 80);
  EXPECT_EQ(what_if(graph).wall, 40);
}

TEST(Threads, WhatContradictsTheTimesIsLeftOut) {
  ProgramTrace program;
  program.wake(ThreadOperation::kCreate, 2, 50, 1);
  program.wake(ThreadOperation::kStart, 2, 50, 2);
  program.wake(ThreadOperation::kCreate, 1, 50, 2);
  program.wake(ThreadOperation::kStart, 1, 50, 1);  // each created the other
  program.host(HostKind::kRange, "before", 60, 70, 3);
  program.create_thread(3, 80, 90);  // which has been at work before
  const CriticalPath path = critical_path(program.finish());
  EXPECT_EQ(doubted(path, "contradict the times"), 3);
  EXPECT_EQ(path.wall, 40);
}

TEST(Threads, AThreadIsCreatedOnce) {
  ProgramTrace program;
  program.create_thread(2, 0, 5);
  program.wake(ThreadOperation::kExit, 2, 10, 2);
  // The same pthread_t again, but who made it was not recorded.
  program.trace().thread_syncs.push_back(
      {100, 100, ThreadOperation::kStart, program.trace().thread_index(1, 3), 2});
  program.host(HostKind::kRange, "late", 100, 200, 3);
  const CriticalPath path = critical_path(program.finish());
  EXPECT_THAT(segments(path), ElementsAre("0-100 t3 <Other>", "100-200 t3 <Other> in late"));
}

TEST(Threads, ReplayGoesThroughThemAndFollowsWhatGotFaster) {
  ProgramTrace program;
  program.create_thread(2, 0, 5);
  program.launch("k", 10, 12, 90, 8, 2);
  program.synchronize(trace::SyncKind::kStreamSynchronize, "cudaStreamSynchronize", 14, 92, 8, trace::kNone,
                      2);
  program.wake(ThreadOperation::kExit, 2, 100, 2);
  program.wait_for_thread(ThreadOperation::kJoin, "pthread_join", 2, 20, 103);
  const WhatIfs answers = what_if(program.finish());
  EXPECT_EQ(answers.wall, 103);
  bool asked = false;
  for (const WhatIf& answer : answers.rows) {
    EXPECT_NE(answer.name, "pthread_join");  // that it waits is what it is for
    if (answer.name != "k" || answer.factor != 2) continue;
    asked = true;
    EXPECT_EQ(answer.gain, 39);
  }
  EXPECT_TRUE(asked);
}

TEST(Threads, WaitsForAThreadAreNotBlamedOnKernels) {
  ProgramTrace program;
  program.create_thread(2, 0, 5);
  program.launch("k", 3, 12, 90, 8);
  program.wake(ThreadOperation::kExit, 2, 100, 2);
  program.wait_for_thread(ThreadOperation::kJoin, "pthread_join", 2, 20, 103);
  for (const FunctionTime& row : critical_path(program.finish()).functions)
    EXPECT_EQ(row.blame, 0) << row.name;
}

}  // namespace
}  // namespace hone::analysis
