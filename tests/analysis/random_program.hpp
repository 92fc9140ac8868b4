// Random traces: programs that a machine could have run, and the same with everything that files get wrong.
#pragma once

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "analysis/program_trace.hpp"
#include "base/random.hpp"

namespace hone::analysis {

/// Simulates threads that launch kernels, copies and graphs into streams, record events, wait for them and
/// synchronize, with the rules of CUDA, and that create each other, share a mutex, wait for each other and
/// join, so that all times agree with them.
class RandomProgram {
 public:
  /// From the begin of a launch to that of an operation that need not wait.
  static constexpr trace::Time kMaximumLatency = 15;
  /// From the end of what a call waited for to its return.
  static constexpr trace::Time kMaximumTail = 10;

  /// When the last thread was created, inside of whatever the first was doing then.
  static constexpr trace::Time kLastCreation = 995;

  explicit RandomProgram(uint64_t seed, int steps = 120) : random_(seed) {
    program_.stream(kStreams[0], trace::StreamKind::kBlocking);
    program_.stream(kStreams[1], trace::StreamKind::kNonBlocking);
    program_.stream(kStreams[2], trace::StreamKind::kBlocking);
    program_.create_thread(thread(1), 10, 20);
    for (int i = 0; i < steps; ++i) step();
    for (size_t i = 0; i < hosts_.size(); ++i) {
      last_start_ = std::max(hosts_[i], last_start_ + 1);
      hosts_[i] = finish_all(last_start_);
      program_.wait_for_device(last_start_, hosts_[i], thread(i));
    }
    program_.wake(trace::ThreadOperation::kCreate, thread(2), kLastCreation, thread(0));
    program_.wake(trace::ThreadOperation::kStart, thread(2), 999, thread(2));
    for (const size_t i : {2, 1}) {
      program_.wake(trace::ThreadOperation::kExit, thread(i), hosts_[i], thread(i));
      const trace::Time start = hosts_[0] + 1;
      hosts_[0] = std::max(start, hosts_[i]) + pick(0, kMaximumTail);
      program_.wait_for_thread(trace::ThreadOperation::kJoin, "pthread_join", thread(i), start, hosts_[0]);
    }
  }

  trace::Trace& trace() { return program_.trace(); }

  /// Adds faults that files have: events that overlap, lie outside of their parents, name missing rows, are
  /// missing, or have clocks that are off.
  void damage() {
    trace::Trace& trace = program_.trace();
    for (trace::HostEvent& event : trace.host_events) {
      if (random_.below(12) == 0) event.end += pick(0, 400);
      if (random_.below(12) == 0) event.start -= pick(0, 400);
      if (random_.below(20) == 0) event.correlation = pick(90, 400);
      if (random_.below(20) == 0) event.end = event.start;
      if (random_.below(30) == 0) event.kind = static_cast<trace::HostKind>(random_.below(10));
    }
    const trace::Time skew = pick(-300, 300);
    for (trace::DeviceEvent& event : trace.device_events) {
      event.start += skew;
      event.end += skew;
      if (random_.below(12) == 0) event.start -= pick(0, 300);
      if (random_.below(12) == 0) event.end = event.start;
      if (random_.below(20) == 0) event.correlation = pick(90, 400);
      if (random_.below(20) == 0) event.stream = pick(-1, 30);
      if (random_.below(20) == 0) event.context = pick(-1, 2);
      if (random_.below(20) == 0) event.device = static_cast<int32_t>(random_.below(3));
      if (random_.below(20) == 0) event.graph_node = pick(0, 9);
      if (random_.below(20) == 0) event.channel = static_cast<int32_t>(random_.below(3));
    }
    for (trace::Synchronization& row : trace.synchronizations) {
      if (random_.below(8) == 0) row.event_record = pick(1090, 1400);
      if (random_.below(8) == 0) row.correlation = pick(90, 400);
      if (random_.below(8) == 0) row.stream = pick(-1, 30);
      if (random_.below(8) == 0) row.kind = static_cast<trace::SyncKind>(random_.below(4));
    }
    for (trace::EventRecord& record : trace.event_records) {
      if (random_.below(8) == 0) record.correlation = pick(90, 400);
      if (random_.below(8) == 0) record.id = pick(1090, 1400);
    }
    for (trace::ThreadSync& row : trace.thread_syncs) {
      if (random_.below(8) == 0) row.start = row.end = row.end + pick(-100, 100);
      if (random_.below(8) == 0) row.thread = static_cast<int32_t>(random_.below(3));
      if (random_.below(8) == 0) row.object = pick(1, 3);
      if (random_.below(8) == 0) row.operation = static_cast<trace::ThreadOperation>(random_.below(10));
    }
    for (int i = 0; i < 10; ++i) trace.graph_edges.push_back({pick(0, 9), pick(0, 9)});
    drop_some(trace.host_events);
    drop_some(trace.device_events);
    drop_some(trace.event_records);
    drop_some(trace.synchronizations);
    drop_some(trace.thread_syncs);
  }

 private:
  /// From the end of what an operation waited for, and from the arrival of its launch, to its begin.
  static constexpr trace::Time kMaximumGap = 3;
  static constexpr std::array<int64_t, 3> kStreams = {8, 9, 10};

  static int64_t thread(size_t i) { return static_cast<int64_t>(i) + 1; }
  trace::Time pick(trace::Time low, trace::Time high) {
    return low + static_cast<trace::Time>(random_.below(static_cast<size_t>(high - low + 1)));
  }

  template <class Rows>
  void drop_some(Rows& rows) {
    std::erase_if(rows, [this](const auto&) { return random_.below(15) == 0; });
  }

  void step() {
    // In the order of time, so that what was simulated first was enqueued first.
    now_ = std::min_element(hosts_.begin(), hosts_.end());
    thread_ = thread(static_cast<size_t>(now_ - hosts_.begin()));
    *now_ = last_start_ = std::max(*now_, last_start_ + 1);
    act();
    *now_ += pick(0, 30);
  }

  void act() {
    switch (random_.below(14)) {
      case 0: return copy();
      case 1: return graph();
      case 2: return record();
      case 3: return stream_wait();
      case 4: return synchronize();
      case 5: return range();
      case 6: return implicit();
      case 7: return mutex();
      case 8: return meet();
      default: return kernel();
    }
  }

  int64_t any_stream() {
    return random_.below(4) == 0 ? ProgramTrace::kNullStream : kStreams[random_.below(3)];
  }
  trace::Time& end_of(int64_t stream) {
    return ends_[static_cast<size_t>(stream - ProgramTrace::kNullStream)];
  }
  static bool is_blocking(int64_t stream) { return stream == kStreams[0] || stream == kStreams[2]; }

  /// When work launched now into the stream begins.
  trace::Time begin_in(int64_t stream) {
    trace::Time begin = std::max(*now_ + pick(0, kMaximumLatency - kMaximumGap), end_of(stream));
    if (stream == ProgramTrace::kNullStream) {
      begin = std::max({begin, end_of(kStreams[0]), end_of(kStreams[2])});
    } else if (is_blocking(stream)) {
      begin = std::max(begin, end_of(ProgramTrace::kNullStream));
    }
    return begin + pick(0, kMaximumGap);
  }

  int64_t call(const std::string& name) {
    const trace::Time start = *now_;
    *now_ += pick(0, 6);
    return program_.call(name, start, *now_, thread_);
  }

  void kernel() {
    static const std::array<std::string, 4> kNames = {"gemm", "relu", "softmax", "norm"};
    const int64_t stream = any_stream();
    const trace::Time begin = begin_in(stream);
    const trace::Time end = begin + pick(0, 60);
    program_.kernel(call("cudaLaunchKernel"), kNames[random_.below(4)], begin, end, stream).channel =
        static_cast<int32_t>(random_.below(2));
    end_of(stream) = end;
  }

  void copy() {
    const int64_t stream = any_stream();
    const trace::Time begin = begin_in(stream);
    const trace::Time end = begin + pick(1, 80);
    const bool blocks = random_.below(2) == 0;
    const trace::Time start = *now_;
    *now_ = blocks ? end + pick(0, 9) : *now_ + pick(0, 6);
    trace::Transfer transfer{64, trace::CopyDirection::kDeviceToHost, trace::MemoryKind::kDevice,
                             blocks ? trace::MemoryKind::kPageable : trace::MemoryKind::kPinned, !blocks};
    program_.copy(program_.call("cudaMemcpyAsync", start, *now_, thread_), "copy", begin, end, transfer,
                  stream);
    end_of(stream) = end;
  }

  void graph() {
    const int64_t stream = kStreams[1];
    trace::Time begin = begin_in(stream);
    const int64_t launch = call("cudaGraphLaunch");
    const auto node = [&](int64_t id, int64_t node_stream) {
      const trace::Time end = begin + pick(1, 30);
      trace::DeviceEvent& event = program_.kernel(launch, "node", begin, end, node_stream);
      event.graph = 1;
      event.graph_node = id;
      return end;
    };
    const trace::Time fork = node(0, stream);
    begin = fork + pick(0, kMaximumGap);
    const trace::Time left = node(1, stream);
    begin = fork + pick(0, kMaximumGap);
    const trace::Time right = node(2, 20);
    begin = std::max(left, right) + pick(0, kMaximumGap);
    end_of(stream) = node(3, stream);
    if (!has_edges_) program_.trace().graph_edges = {{0, 1}, {0, 2}, {1, 3}, {2, 5}, {5, 3}};
    has_edges_ = true;
  }

  void record() {
    const int64_t stream = any_stream();
    const int64_t correlation = call("cudaEventRecord");
    program_.trace().event_records.push_back(
        {correlation + 1000, 3, 0, ProgramTrace::kContext, stream, correlation, trace::kNone});
    trace::Time end = end_of(stream);
    if (stream == ProgramTrace::kNullStream) end = std::max({end, end_of(kStreams[0]), end_of(kStreams[2])});
    recorded_.push_back({correlation + 1000, end, stream});
  }

  void stream_wait() {
    if (recorded_.empty()) return;
    const auto& [id, end, recorded_in] = recorded_[random_.below(recorded_.size())];
    const int64_t stream = any_stream();
    const trace::Time start = *now_;
    *now_ += pick(1, 4);
    program_.synchronize(trace::SyncKind::kStreamWaitEvent, "cudaStreamWaitEvent", start, *now_, stream, id,
                         thread_);
    if (recorded_in == stream) return;  // what the stream does anyway
    for (const int64_t other : {stream, kStreams[0], kStreams[2]}) {
      if (other == stream || stream == ProgramTrace::kNullStream)
        end_of(other) = std::max(end_of(other), end);
    }
  }

  trace::Time finish_all(trace::Time now) {
    return std::max(now, *std::max_element(ends_.begin(), ends_.end())) + pick(0, kMaximumTail);
  }

  void synchronize() {
    const trace::Time start = *now_;
    if (random_.below(2) == 0) {
      *now_ = finish_all(*now_);
      return program_.wait_for_device(start, *now_, thread_);
    }
    const int64_t stream = kStreams[random_.below(3)];
    *now_ = std::max(*now_, end_of(stream)) + pick(0, kMaximumTail);
    program_.wait_for_stream(stream, start, *now_, thread_);
  }

  void range() {
    program_.host(trace::HostKind::kRange, "range" + std::to_string(random_.below(3)), *now_,
                  *now_ + pick(0, 300), thread_);
    if (random_.below(3) == 0)
      program_.host(trace::HostKind::kOverhead, "Buffer Flush", *now_, *now_ + pick(0, 9), thread_);
  }

  void implicit() {
    const trace::Time start = *now_;
    *now_ = random_.below(2) == 0 ? finish_all(*now_) : *now_ + pick(0, 5);
    program_.call("cudaFree", start, *now_, thread_);
  }

  void mutex() {
    constexpr int64_t kMutex = 77;
    const trace::Time start = *now_;
    if (unlocked_ > start) {
      *now_ = unlocked_ + pick(0, kMaximumTail);
      program_.wait_for_thread(trace::ThreadOperation::kLock, "pthread_mutex_lock", kMutex, start, *now_,
                               thread_);
    }
    *now_ += pick(1, 90);
    unlocked_ = *now_;
    program_.wake(trace::ThreadOperation::kUnlock, kMutex, unlocked_, thread_);
  }

  /// Waits until another thread, which is ahead, comes along and posts.
  void meet() {
    const bool posts = random_.below(2) == 0;
    const size_t other = random_.below(hosts_.size());
    if (&hosts_[other] == now_) return;
    const trace::Time start = *now_;
    const trace::Time met = hosts_[other]++;
    if (met <= start) return;
    *now_ = met + pick(0, kMaximumTail);
    // One thread posts to one semaphore, but all signal the same condition.
    const int64_t object = posts ? 88 + static_cast<int64_t>(other) : 99;
    program_.wake(posts ? trace::ThreadOperation::kPost : trace::ThreadOperation::kSignal, object, met,
                  thread(other));
    program_.wait_for_thread(
        posts ? trace::ThreadOperation::kSemaphoreWait : trace::ThreadOperation::kConditionWait,
        posts ? "sem_wait" : "pthread_cond_wait", object, start, *now_, thread_);
  }

  base::Random random_;
  ProgramTrace program_;
  std::array<trace::Time, 3> hosts_{15, 25, 1000};
  trace::Time unlocked_ = 0;
  std::array<trace::Time, 16> ends_{};
  struct Recorded {
    int64_t id;
    trace::Time end;
    int64_t stream;
  };
  std::vector<Recorded> recorded_;
  trace::Time* now_ = nullptr;
  int64_t thread_ = 1;
  trace::Time last_start_ = 0;
  bool has_edges_ = false;
};

}  // namespace hone::analysis
