// One entry of `traceEvents`, as PyTorch's Kineto has written them since 2021: the fields that the model has
// a place for, under one name whatever their spelling.
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
  std::optional<int64_t> number;  ///< the number, or the one that the text ends with
  std::string_view text;          ///< empty for plain numbers
};

/// Times in nanoseconds. Integers are kNone and texts empty where the event does not have them. Texts are
/// valid until the next event is parsed.
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
  std::optional<double> counter_value;  ///< and its value

  /// From an API call to a kernel, or from forward to backward: correlation ids and autograd's sequence
  /// numbers say the same, so no other field of an arrow is read.
  bool is_arrow() const { return phase == "s" || phase == "t" || phase == "f"; }
};

/// Microseconds as JSON writes them, with or without decimals and exponent, in nanoseconds; below a
/// nanosecond rounded to the nearest. None when it is no number or beyond kLatestTime.
std::optional<Time> parse_microseconds(std::string_view text);

/// Keeps the parser's memory from one event to the next.
class KinetoEventParser {
 public:
  KinetoEventParser();
  ~KinetoEventParser();
  KinetoEventParser(const KinetoEventParser&) = delete;
  KinetoEventParser& operator=(const KinetoEventParser&) = delete;

  /// False when the text is no valid JSON object. `padding` bytes after the text may be read.
  bool parse(std::string_view text, size_t padding, KinetoEvent& event);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace hone::trace
