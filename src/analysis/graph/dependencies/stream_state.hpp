// The driver's state of streams at one moment of a program: the last operations of each, and the waits that
// the legacy default stream causes.
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

  /// The operations whose end is the end of all work in the stream: the last one and those that it overlaps.
  const std::vector<int32_t>& tails(int32_t stream) const {
    return states_[static_cast<size_t>(stream)].tails;
  }
  /// The tails of the stream, with those that the stream itself waits for since then; for the legacy default
  /// stream also those of the streams that it waits for.
  std::vector<int32_t> completion(int32_t stream) const;
  /// The completion of all streams of a context to which something was added since the thread last asked.
  std::vector<int32_t> added_since(int32_t context, int32_t thread);
  /// The operations for which the legacy default stream makes an operation of this stream wait (R3).
  std::vector<int32_t> default_stream_before(int32_t stream);

  /// The next operation of the stream waits for this (R5); of the legacy default stream, the next of every
  /// stream that it blocks.
  void wait(int32_t stream, int32_t operation);
  void wait_in_default_stream(int32_t context, int32_t operation);
  /// Waits for which the next operation of the stream is that operation.
  std::vector<int32_t> take_waits(int32_t stream);

  void add(int32_t stream, int32_t operation);
  /// All work of the stream has ended when these have.
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
    std::vector<int32_t> log;    ///< the streams to which something was added, in order
    std::vector<int32_t> ahead;  ///< blocking streams with work that the default stream has not waited for
    int64_t default_count = 0;   ///< operations of the default stream
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
  std::vector<int64_t> stamps_;  ///< of streams, to take each once
  int64_t stamp_ = 0;
};

}  // namespace hone::analysis::dependencies
