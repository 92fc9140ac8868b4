// Simulates the driver's state of streams: the last operations of each stream, and the waits that the legacy
// default stream causes.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "analysis/graph/dependencies/operations.hpp"
#include "analysis/graph/event_graph.hpp"

namespace hone::analysis::dependencies {

class StreamStates {
 public:
  StreamStates(const EventGraph& graph, const StreamIndex& streams);

  /// The operations after whose end all work of the stream has ended: the last one and those that overlap it.
  const std::vector<int32_t>& tails(int32_t stream) const {
    return states_[static_cast<size_t>(stream)].tails;
  }
  /// The tails of the stream, and the operations that the stream itself has been told to wait for since then.
  /// For the legacy default stream, it includes those of the streams that it waits for.
  std::vector<int32_t> completion(int32_t stream) const;
  /// The completion of all streams of a context to which work was added since the thread last asked.
  std::vector<int32_t> added_since(int32_t context, int32_t thread);
  /// The operations for which an operation of this stream must wait because of the legacy default stream
  /// (R3).
  std::vector<int32_t> default_stream_before(int32_t stream);

  /// The next operation of the stream will wait for this one (R5). For the legacy default stream, the next
  /// operation of every stream that it blocks waits too.
  void wait(int32_t stream, int32_t operation);
  void wait_in_default_stream(int32_t context, int32_t operation);
  /// Returns and removes the waits of the stream; `operation` is the stream's next operation.
  std::vector<int32_t> take_waits(int32_t stream);

  void add(int32_t stream, int32_t operation);
  /// Sets the operations after whose end all work of the stream has ended.
  void set_tails(int32_t stream, std::vector<int32_t> operations);

 private:
  struct State {
    std::vector<int32_t> tails;
    std::vector<int32_t> waits;
    size_t default_waits_seen = 0;
    int64_t default_seen = 0;
    bool is_ahead = false;  ///< is in ContextState::ahead
  };
  struct ContextState {
    int32_t default_stream = -1;
    std::vector<int32_t> log;    ///< streams to which work was added, in order
    std::vector<int32_t> ahead;  ///< blocking streams with work that the default stream has not waited for
    int64_t default_count = 0;   ///< number of operations of the default stream
    std::vector<int32_t> default_waits;
    std::unordered_map<int32_t, size_t> asked;  ///< length of the log when each thread last asked
  };

  bool blocks(int32_t stream) const { return streams_[stream].kind == trace::StreamKind::kBlocking; }
  ContextState& context_of(int32_t stream) {
    return contexts_[static_cast<size_t>(streams_[stream].context)];
  }
  void append(int32_t stream, std::vector<int32_t>& operations) const;
  void append_default_waits(int32_t stream, std::vector<int32_t>& operations) const;
  void note_change(int32_t stream);

  const EventGraph& graph_;
  const StreamIndex& streams_;
  std::vector<State> states_;
  std::vector<ContextState> contexts_;
  std::vector<int64_t> stamps_;  ///< marks of streams, so that each is taken once
  int64_t stamp_ = 0;
};

}  // namespace hone::analysis::dependencies
