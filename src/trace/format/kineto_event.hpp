// One entry of `traceEvents`, as PyTorch's Kineto has written them since 2021: the fields that the model can
// represent, each under one name for all its spellings.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "trace/trace.hpp"

namespace hone::trace {

/// A `pid` or `tid`: a number, or a text such as "stream 7".
struct KinetoPlace {
  std::optional<int64_t> number;  ///< the number, or the number at the end of the text
  std::string_view text;          ///< empty for plain numbers
};

/// Times are in nanoseconds. Integers are kNone and texts are empty if the event lacks them. Texts are valid
/// until the next event is parsed.
struct KinetoEvent {
  std::string_view phase, category, name;
  KinetoPlace process, thread;
  std::optional<Time> start, duration;

  int64_t correlation = kNone, external_id = kNone, device = kNone, context = kNone, stream = kNone;
  int64_t registers = 0, shared_bytes = 0, graph = kNone, graph_node = kNone, priority = 0;
  int64_t channel = kNone, channel_type = kNone;
  int64_t bytes = 0, address = 0, device_type = kNone, device_id = kNone;
  int64_t total_allocated = kNone, total_reserved = kNone, sequence = kNone;
  int64_t wait_on_stream = kNone, wait_on_record = kNone, wait_on_event = kNone, event = kNone;
  double occupancy = -1;
  std::array<int32_t, 3> grid{}, block{};
  std::string_view input_shapes, input_types, call_stack, module, collective, label, kind;
  std::string_view counter;             ///< name of the first numeric argument
  std::optional<double> counter_value;  ///< the value of that argument

  /// An arrow from an API call to a kernel, or from forward to backward. Correlation ids and autograd's
  /// sequence numbers hold the same information, so no other field of an arrow is read.
  bool is_arrow() const { return phase == "s" || phase == "t" || phase == "f"; }
};

/// Converts microseconds in JSON notation, with or without decimals and exponent, to nanoseconds, rounded to
/// the nearest. None if the text is no number or the time is beyond kLatestTime.
std::optional<Time> parse_microseconds(std::string_view text);

/// Reuses the memory of the parser for all events.
class KinetoEventParser {
 public:
  KinetoEventParser();
  ~KinetoEventParser();
  KinetoEventParser(const KinetoEventParser&) = delete;
  KinetoEventParser& operator=(const KinetoEventParser&) = delete;

  /// Returns false if the text is no valid JSON object. `padding` bytes after the text may be read.
  bool parse(std::string_view text, size_t padding, KinetoEvent& event);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace hone::trace
