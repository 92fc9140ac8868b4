// See stream_state.hpp.
#include "analysis/graph/dependencies/stream_state.hpp"

#include <algorithm>
#include <utility>

namespace hone::analysis::dependencies {
namespace {

/// Usually two operations of a stream overlap, rarely three. If there are more than this, those that end last
/// are kept.
constexpr size_t kMaximumTails = 64;
/// Limit on the waits that are kept since a stream's last operation; older ones ended long ago.
constexpr size_t kMaximumWaits = 64;

}  // namespace

StreamStates::StreamStates(const EventGraph& graph, const StreamIndex& streams)
    : graph_(graph),
      streams_(streams),
      states_(streams.size()),
      contexts_(streams.context_count()),
      stamps_(streams.size(), 0) {
  for (int32_t stream = 0; stream < static_cast<int32_t>(streams.size()); ++stream) {
    if (streams[stream].kind == trace::StreamKind::kNull) context_of(stream).default_stream = stream;
  }
}

void StreamStates::append(int32_t stream, std::vector<int32_t>& operations) const {
  const State& state = states_[static_cast<size_t>(stream)];
  operations.insert(operations.end(), state.tails.begin(), state.tails.end());
  operations.insert(operations.end(), state.waits.begin(), state.waits.end());
  append_default_waits(stream, operations);
}

/// Appends the operations for which the stream's next operation must wait because of the default stream.
void StreamStates::append_default_waits(int32_t stream, std::vector<int32_t>& operations) const {
  const ContextState& context = contexts_[static_cast<size_t>(streams_[stream].context)];
  const size_t count = context.default_waits.size();
  if (!blocks(stream) && context.default_stream != stream) return;
  const size_t seen = states_[static_cast<size_t>(stream)].default_waits_seen;
  const size_t first = std::max(seen, count - std::min(count, kMaximumWaits));
  operations.insert(operations.end(), context.default_waits.begin() + static_cast<std::ptrdiff_t>(first),
                    context.default_waits.end());
}

void StreamStates::wait(int32_t stream, int32_t operation) {
  std::vector<int32_t>& waits = states_[static_cast<size_t>(stream)].waits;
  if (waits.size() >= kMaximumWaits) waits.erase(waits.begin());
  waits.push_back(operation);
  note_change(stream);
}

void StreamStates::note_change(int32_t stream) {
  ContextState& context = context_of(stream);
  context.log.push_back(stream);
  State& state = states_[static_cast<size_t>(stream)];
  if (!blocks(stream) || state.is_ahead) return;
  state.is_ahead = true;
  context.ahead.push_back(stream);
}

std::vector<int32_t> StreamStates::completion(int32_t stream) const {
  std::vector<int32_t> operations;
  append(stream, operations);
  const ContextState& context = contexts_[static_cast<size_t>(streams_[stream].context)];
  if (context.default_stream != stream) return operations;
  for (const int32_t other : context.ahead) append(other, operations);
  return operations;
}

std::vector<int32_t> StreamStates::added_since(int32_t context, int32_t thread) {
  ContextState& state = contexts_[static_cast<size_t>(context)];
  size_t& asked = state.asked[thread];
  std::vector<int32_t> operations;
  ++stamp_;
  for (; asked < state.log.size(); ++asked) {
    int64_t& stamp = stamps_[static_cast<size_t>(state.log[asked])];
    if (std::exchange(stamp, stamp_) != stamp_) append(state.log[asked], operations);
  }
  return operations;
}

std::vector<int32_t> StreamStates::default_stream_before(int32_t stream) {
  ContextState& context = context_of(stream);
  State& state = states_[static_cast<size_t>(stream)];
  std::vector<int32_t> operations;
  if (context.default_stream == stream) {
    for (const int32_t other : context.ahead) {
      append(other, operations);
      states_[static_cast<size_t>(other)].is_ahead = false;
    }
    context.ahead.clear();
    ++context.default_count;
    return operations;
  }
  if (context.default_stream < 0 || !blocks(stream)) return operations;
  if (std::exchange(state.default_seen, context.default_count) == context.default_count) return operations;
  return tails(context.default_stream);
}

void StreamStates::wait_in_default_stream(int32_t context, int32_t operation) {
  ContextState& state = contexts_[static_cast<size_t>(context)];
  state.default_waits.push_back(operation);
  if (state.default_stream >= 0) state.log.push_back(state.default_stream);
}

std::vector<int32_t> StreamStates::take_waits(int32_t stream) {
  State& state = states_[static_cast<size_t>(stream)];
  std::vector<int32_t> operations;
  operations.swap(state.waits);
  append_default_waits(stream, operations);
  state.default_waits_seen = context_of(stream).default_waits.size();
  return operations;
}

void StreamStates::add(int32_t stream, int32_t operation) {
  const Time enter = graph_.operations[static_cast<size_t>(operation)].enter;
  std::vector<int32_t>& tails = states_[static_cast<size_t>(stream)].tails;
  std::erase_if(tails,
                [&](int32_t tail) { return graph_.operations[static_cast<size_t>(tail)].leave <= enter; });
  tails.push_back(operation);
  set_tails(stream, std::move(tails));
  note_change(stream);
}

void StreamStates::set_tails(int32_t stream, std::vector<int32_t> operations) {
  const auto leave = [&](int32_t i) { return graph_.operations[static_cast<size_t>(i)].leave; };
  if (operations.size() > kMaximumTails) {
    std::nth_element(operations.begin(), operations.begin() + kMaximumTails, operations.end(),
                     [&](int32_t a, int32_t b) { return leave(a) > leave(b); });
    operations.resize(kMaximumTails);
  }
  states_[static_cast<size_t>(stream)].tails = std::move(operations);
}

}  // namespace hone::analysis::dependencies
