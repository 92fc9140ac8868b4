// The device side of the graph: operations with the call that launched them, their stream, and the time at
// which they were enqueued.
#pragma once

#include <compare>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analysis/graph/dependencies/host_calls.hpp"
#include "analysis/graph/event_graph.hpp"

namespace hone::analysis::dependencies {

/// The time at which something was enqueued: the begin of the call and, for equal times, the index of the
/// call.
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

/// Assigns dense numbers to streams and contexts.
class StreamIndex {
 public:
  explicit StreamIndex(const trace::Trace& trace);

  int32_t add(int32_t device, int64_t context, int64_t stream);
  /// Returns -1 if nothing ran in the stream. Accepts rows without a device.
  int32_t find(int32_t device, int64_t context, int64_t stream) const;
  /// The kind that the trace states, even if nothing ran in the stream.
  trace::StreamKind kind(int64_t context, int64_t stream) const;
  /// Returns -1 if nothing ran in the context.
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

/// Operations sorted by their end.
class EndIndex {
 public:
  explicit EndIndex(const EventGraph& graph);

  /// Returns the operation that `accept` takes and that ended last in (after, until]; -1 if there is none. It
  /// looks at no more than 256 operations, so the time of a query is bounded.
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

/// Fills the graph's operations, converted to the host's clock by graph.clock. Returns the enqueue time of
/// each operation. Within a stream, enqueue times never decrease, because operations of a stream run in the
/// order in which they were enqueued.
std::vector<Enqueued> add_operations(EventGraph& graph, StreamIndex& streams, const CallIndex& index);

}  // namespace hone::analysis::dependencies
