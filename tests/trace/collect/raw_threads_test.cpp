// Calls of the threads API in a trace.
#include "trace/collect/raw_threads.hpp"

#include <gtest/gtest.h>

#include <cerrno>

namespace hone::trace {
namespace {

raw::ThreadCall call(raw::ThreadFunction function, int result = 0) {
  raw::ThreadCall row;
  row.function = function;
  row.start = 10;
  row.end = 20;
  row.object = 77;
  row.result = result;
  return row;
}

TEST(RawThreads, ALockComesWithTheUnlockThatItWaitedFor) {
  Trace trace;
  raw::ThreadCall lock = call(raw::ThreadFunction::kMutexTimedLock);
  lock.unlocked = 18;
  add_thread_call(trace, lock, 0, 1);
  ASSERT_EQ(trace.host_events.size(), 1U);
  EXPECT_EQ(trace.text(trace.host_events[0].name), "pthread_mutex_timedlock");
  EXPECT_EQ(trace.host_events[0].kind, HostKind::kThreadApi);
  ASSERT_EQ(trace.thread_syncs.size(), 2U);
  EXPECT_EQ(trace.thread_syncs[0].operation, ThreadOperation::kUnlock);
  EXPECT_EQ(trace.thread_syncs[0].thread, 1);
  EXPECT_EQ(trace.thread_syncs[0].end, 18);
  EXPECT_EQ(trace.thread_syncs[1].operation, ThreadOperation::kLock);
  EXPECT_EQ(trace.thread_syncs[1].end, 20);
  EXPECT_EQ(trace.thread_syncs[1].object, 77);
}

TEST(RawThreads, WhatFailedWokeNobodyAndWasWokenByNobody) {
  Trace trace;
  add_thread_call(trace, call(raw::ThreadFunction::kConditionTimedWait, ETIMEDOUT), 0, -1);
  add_thread_call(trace, call(raw::ThreadFunction::kCreate, EAGAIN), 0, -1);
  EXPECT_EQ(trace.host_events.size(), 2U);
  EXPECT_EQ(trace.host_events[0].result, ETIMEDOUT);
  EXPECT_TRUE(trace.thread_syncs.empty());
}

TEST(RawThreads, AMutexIsLockedThoughItsOwnerDied) {
  Trace trace;
  add_thread_call(trace, call(raw::ThreadFunction::kMutexLock, EOWNERDEAD), 0, -1);
  EXPECT_EQ(trace.thread_syncs.size(), 1U);
}

TEST(RawThreads, AThreadMayBeginBeforeItsCreationReturns) {
  Trace trace;
  add_thread_call(trace, call(raw::ThreadFunction::kCreate), 0, -1);
  EXPECT_EQ(trace.host_events[0].end, 20);
  EXPECT_EQ(trace.thread_syncs[0].end, 10);
}

TEST(RawThreads, WakingTakesNoTime) {
  Trace trace;
  add_thread_call(trace, call(raw::ThreadFunction::kConditionBroadcast), 0, -1);
  EXPECT_TRUE(trace.host_events.empty());
  EXPECT_EQ(trace.thread_syncs[0].operation, ThreadOperation::kSignal);
}

TEST(RawThreads, CallsOfLaterVersionsAreCounted) {
  Trace trace;
  add_thread_call(trace, call(static_cast<raw::ThreadFunction>(99)), 0, -1);
  ASSERT_EQ(trace.doubts.size(), 1U);
  EXPECT_EQ(trace.doubts[0].count, 1);
}

}  // namespace
}  // namespace hone::trace
