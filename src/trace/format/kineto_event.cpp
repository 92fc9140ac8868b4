// See kineto_event.hpp.
#include "trace/format/kineto_event.hpp"

#include <simdjson.h>

#include <charconv>
#include <cmath>
#include <limits>
#include <string>
#include <variant>

#include "trace/format/kineto_names.hpp"
#include "trace/format/name_table.hpp"

namespace hone::trace {
namespace {

namespace json = simdjson::ondemand;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// The characters of a number, which may be in quotes.
std::string_view number_text(std::string_view token) {
  while (!token.empty() && (token.back() <= ' ' || token.back() == '"')) token.remove_suffix(1);
  if (!token.empty() && token.front() == '"') token.remove_prefix(1);
  return token;
}

std::optional<double> parse_real(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

std::optional<int64_t> parse_integer(std::string_view text) {
  const char* const last = text.data() + text.size();
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), last, value);
  if (error == std::errc() && end == last) return value;
  uint64_t wide = 0;  // addresses and ids may use the sign bit
  const auto [wide_end, wide_error] = std::from_chars(text.data(), last, wide);
  if (wide_error == std::errc() && wide_end == last) return static_cast<int64_t>(wide);
  const std::optional<double> real = parse_real(text);
  if (!real || std::abs(*real) >= 0x1p63) return std::nullopt;
  return static_cast<int64_t>(*real);
}

int32_t to_int32(int64_t value) { return std::in_range<int32_t>(value) ? static_cast<int32_t>(value) : 0; }

using Extent = std::array<int32_t, 3>;
using Member = std::variant<int64_t KinetoEvent::*, double KinetoEvent::*, std::string_view KinetoEvent::*,
                            Extent KinetoEvent::*>;

/// "Device Id" and "device" are different things; spellings of the same thing differ only in case.
constexpr NameTable kArguments{std::to_array<NamedValue<Member>>({
    {"correlation", &KinetoEvent::correlation},
    {"external id", &KinetoEvent::external_id},
    {"device", &KinetoEvent::device},
    {"context", &KinetoEvent::context},
    {"stream", &KinetoEvent::stream},
    {"registers per thread", &KinetoEvent::registers},
    {"shared memory", &KinetoEvent::shared_bytes},
    {"graph id", &KinetoEvent::graph},
    {"graph node id", &KinetoEvent::graph_node},
    {"priority", &KinetoEvent::priority},
    {"channel", &KinetoEvent::channel},
    {"channel_type", &KinetoEvent::channel_type},
    {"grid", &KinetoEvent::grid},
    {"block", &KinetoEvent::block},
    {"est. achieved occupancy %", &KinetoEvent::occupancy},
    {"collective name", &KinetoEvent::collective},
    {"bytes", &KinetoEvent::bytes},
    {"addr", &KinetoEvent::address},
    {"device type", &KinetoEvent::device_type},
    {"device id", &KinetoEvent::device_id},
    {"total allocated", &KinetoEvent::total_allocated},
    {"total reserved", &KinetoEvent::total_reserved},
    {"sequence number", &KinetoEvent::sequence},
    {"input dims", &KinetoEvent::input_shapes},
    {"input type", &KinetoEvent::input_types},
    {"call stack", &KinetoEvent::call_stack},
    {"module hierarchy", &KinetoEvent::module},
    {"wait_on_stream", &KinetoEvent::wait_on_stream},
    {"wait_on_cuda_event_record_corr_id", &KinetoEvent::wait_on_record},
    {"wait_on_cuda_event_id", &KinetoEvent::wait_on_event},
    {"event_id", &KinetoEvent::event},
    {kKindArgument, &KinetoEvent::kind},
    {"name", &KinetoEvent::label},
    {"labels", &KinetoEvent::label},
})};

/// The content of a string, or the JSON text of any other value.
std::string_view text_of(json::value& value) {
  std::string_view text;
  json::json_type type{};
  if (value.type().get(type) != simdjson::SUCCESS) return {};
  if (type == json::json_type::string) return value.get_string().get(text) == simdjson::SUCCESS ? text : "";
  return simdjson::to_json_string(value).get(text) == simdjson::SUCCESS ? text : "";
}

void read_extent(json::value& value, Extent& extent) {
  json::array array;
  if (value.get_array().get(array) != simdjson::SUCCESS) return;
  size_t i = 0;
  for (auto element : array) {
    if (i == extent.size()) return;
    std::string_view token;
    if (element.raw_json_token().get(token) != simdjson::SUCCESS) return;
    extent[i++] = to_int32(parse_integer(number_text(token)).value_or(0));
  }
}

void read_argument(json::value& value, const Member& member, KinetoEvent& event) {
  if (const auto* integer = std::get_if<int64_t KinetoEvent::*>(&member)) {
    event.** integer = parse_integer(number_text(value.raw_json_token())).value_or(event.**integer);
  } else if (const auto* real = std::get_if<double KinetoEvent::*>(&member)) {
    event.** real = parse_real(number_text(value.raw_json_token())).value_or(event.**real);
  } else if (const auto* text = std::get_if<std::string_view KinetoEvent::*>(&member)) {
    event.** text = text_of(value);
  } else {
    read_extent(value, event.*std::get<Extent KinetoEvent::*>(member));
  }
}

bool read_arguments(json::value& value, KinetoEvent& event) {
  json::json_type type{};
  if (value.type().get(type) != simdjson::SUCCESS) return false;
  if (type != json::json_type::object) return true;
  json::object arguments;
  if (value.get_object().get(arguments) != simdjson::SUCCESS) return false;
  for (auto field : arguments) {
    std::string_view key;
    json::value argument;
    if (field.unescaped_key().get(key) != simdjson::SUCCESS) return false;
    if (field.value().get(argument) != simdjson::SUCCESS) return false;
    if (const Member* member = kArguments.find(key)) {
      read_argument(argument, *member, event);
    } else if (event.phase == "C" && !event.counter_value) {
      event.counter = key;
      event.counter_value = parse_real(number_text(argument.raw_json_token()));
    }
  }
  return true;
}

KinetoPlace read_place(json::value& value) {
  KinetoPlace place;
  const std::string_view token = number_text(value.raw_json_token());
  place.number = parse_integer(token);
  if (place.number) return place;
  place.text = text_of(value);
  size_t digits = place.text.size();
  while (digits > 0 && is_digit(place.text[digits - 1])) --digits;
  place.number = parse_integer(place.text.substr(digits));
  return place;
}

enum class Field { kPhase, kCategory, kName, kProcess, kThread, kStart, kDuration, kArguments };

constexpr NameTable kFields{std::to_array<NamedValue<Field>>({
    {"ph", Field::kPhase},
    {"cat", Field::kCategory},
    {"name", Field::kName},
    {"pid", Field::kProcess},
    {"tid", Field::kThread},
    {"ts", Field::kStart},
    {"dur", Field::kDuration},
    {"args", Field::kArguments},
})};

bool read_field(json::value& value, Field field, KinetoEvent& event) {
  switch (field) {
    case Field::kPhase: event.phase = text_of(value); return true;
    case Field::kCategory: event.category = text_of(value); return true;
    case Field::kName: event.name = text_of(value); return true;
    case Field::kProcess: event.process = read_place(value); return true;
    case Field::kThread: event.thread = read_place(value); return true;
    case Field::kStart: event.start = parse_microseconds(number_text(value.raw_json_token())); return true;
    case Field::kDuration:
      event.duration = parse_microseconds(number_text(value.raw_json_token()));
      return true;
    case Field::kArguments: return read_arguments(value, event);
  }
  return true;
}

}  // namespace

std::optional<Time> parse_microseconds(std::string_view text) {
  constexpr int64_t kLargest = kLatestTime / 1000;
  const bool negative = !text.empty() && text.front() == '-';
  size_t i = negative ? 1 : 0;
  const size_t first = i;
  int64_t microseconds = 0;
  for (; i < text.size() && is_digit(text[i]); ++i) {
    microseconds = microseconds * 10 + (text[i] - '0');
    if (microseconds > kLargest) return std::nullopt;
  }
  if (i == first) return std::nullopt;
  int64_t nanoseconds = 0;
  if (i < text.size() && text[i] == '.') {
    int64_t scale = 100;
    bool up = false;
    for (++i; i < text.size() && is_digit(text[i]); ++i, scale /= 10) {
      nanoseconds += (text[i] - '0') * scale;
      if (scale != 0) continue;
      up = text[i] >= '5';
      for (; i < text.size() && is_digit(text[i]);) ++i;
      break;
    }
    nanoseconds += up ? 1 : 0;
  }
  if (i < text.size()) {  // an exponent: rare, and too long for exact digits anyway
    const std::optional<double> real = parse_real(text);
    if (!real || std::abs(*real) > static_cast<double>(kLargest)) return std::nullopt;
    return static_cast<Time>(std::llround(*real * 1000));
  }
  const Time time = microseconds * 1000 + nanoseconds;
  return negative ? -time : time;
}

struct KinetoEventParser::State {
  json::parser parser;
  std::string repaired;
};

KinetoEventParser::KinetoEventParser() : state_(std::make_unique<State>()) {}
KinetoEventParser::~KinetoEventParser() = default;

bool KinetoEventParser::parse(std::string_view text, size_t padding, KinetoEvent& event) {
  event = {};
  json::document document;
  simdjson::error_code error =
      state_->parser.iterate(simdjson::padded_string_view(text.data(), text.size(), text.size() + padding))
          .get(document);
  if (error == simdjson::UTF8_ERROR) {  // for example, a name that was cut in the middle of a character
    state_->repaired.assign(text);
    for (char& c : state_->repaired) c = static_cast<signed char>(c) < 0 ? '?' : c;
    state_->repaired.reserve(text.size() + simdjson::SIMDJSON_PADDING);
    error = state_->parser.iterate(state_->repaired).get(document);
  }
  if (error != simdjson::SUCCESS) return false;
  json::object object;
  if (document.get_object().get(object) != simdjson::SUCCESS) return false;
  for (auto field : object) {
    std::string_view key;
    json::value value;
    if (field.unescaped_key().get(key) != simdjson::SUCCESS) return false;
    if (field.value().get(value) != simdjson::SUCCESS) return false;
    const Field* known = kFields.find(key);
    if (known != nullptr && !read_field(value, *known, event)) return false;
    if (event.is_arrow()) return true;
  }
  return true;
}

}  // namespace hone::trace
