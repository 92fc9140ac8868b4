// The device's side: operations with the call that launched them, the stream that they ran in, and when they
// were enqueued.
#pragma once

#include <compare>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analysis/graph/dependencies/host_calls.hpp"
#include "analysis/graph/event_graph.hpp"

namespace hone::analysis::dependencies {

/// When something was handed to a stream: the begin of the call and, since times tie, the call.
struct Enqueued {
  Time time = 0;
  int32_t call = -1;
  auto operator<=>(const Enqueued&) const = default;
};

struct StreamInfo {
  int32_t device = 0;
  int32_t context = -1;  ///< dense number
  trace::StreamKind kind = trace::StreamKind::kUnknown;
};

/// Dense numbers of streams and contexts.
class StreamIndex {
 public:
  explicit StreamIndex(const trace::Trace& trace);

  int32_t add(int32_t device, int64_t context, int64_t stream);
  /// -1 when nothing ran in it. A row that does not say its device is understood, too.
  int32_t find(int32_t device, int64_t context, int64_t stream) const;
  /// As the trace said, whether anything ran in it or not.
  trace::StreamKind kind(int64_t context, int64_t stream) const;
  /// -1 when nothing ran in it.
  int32_t find_context(int64_t context) const;

  size_t size() const { return streams_.size(); }
  size_t context_count() const { return contexts_.size(); }
  const StreamInfo& operator[](int32_t stream) const { return streams_[static_cast<size_t>(stream)]; }

 private:
  struct Key {
    int64_t device;
    int64_t context;
    int64_t stream;
    bool operator==(const Key&) const = default;
  };
  struct Hash {
    size_t operator()(const Key& key) const;
  };
  static constexpr int64_t kAnyDevice = -2;

  std::vector<StreamInfo> streams_;
  std::unordered_map<Key, int32_t, Hash> numbers_;
  std::unordered_map<int64_t, int32_t> contexts_;
  std::unordered_map<Key, trace::StreamKind, Hash> kinds_;
  Key last_{};
  int32_t last_number_ = -1;
};

/// Operations by the time at which they ended.
class EndIndex {
 public:
  explicit EndIndex(const EventGraph& graph);

  /// The last one to end in (after, until] of those that `accept` takes; -1 when there is none. Looks at no
  /// more than 256, so that a query takes bounded time.
  template <class Accept>
  int32_t last_in(Time after, Time until, const Accept& accept) const {
    size_t at = count_until(until);
    for (int tries = 0; tries < 256 && at > 0 && ends_[at - 1].first > after; ++tries, --at) {
      if (accept(ends_[at - 1].second)) return ends_[at - 1].second;
    }
    return -1;
  }

 private:
  size_t count_until(Time time) const;
  std::vector<std::pair<Time, int32_t>> ends_;
};

/// Fills the graph's operations, on the host's clock by graph.clock. Enqueue times are by operation; in a
/// stream they never decrease, since operations of a stream run in the order in which they were enqueued.
std::vector<Enqueued> add_operations(EventGraph& graph, StreamIndex& streams, const CallIndex& index);

}  // namespace hone::analysis::dependencies
