// Formats the parts of the text of Kineto files.
#pragma once

#include <fmt/format.h>

#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "trace/format/text_sink.hpp"
#include "trace/trace.hpp"

namespace hone::trace {

/// Adds quotes and escapes; bytes that are no UTF-8 are replaced.
std::string json_string(std::string_view text);

/// True if the text is valid JSON.
bool is_json(std::string_view text);

/// The strings of a trace as JSON; each is converted once. On request, only the result of `part` for each
/// string.
class JsonStrings {
 public:
  using Part = std::string_view (*)(std::string_view);
  explicit JsonStrings(const StringTable& strings, Part part = nullptr)
      : strings_(strings), part_(part), made_(strings.size()) {}
  const std::string& operator[](StringId id);

 private:
  const StringTable& strings_;
  Part part_;
  std::vector<std::string> made_;
};

/// Nanoseconds as microseconds.
struct Microseconds {
  Time time = 0;
  bool whole = false;  ///< rounded down
};

/// Collects text and writes it to the file in large pieces.
class JsonLines {
 public:
  explicit JsonLines(TextSink& sink) : sink_(sink) {}

  template <class... Args>
  void add(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Args>(args)...);
    if (text_.size() >= kFlush) flush();
  }
  void flush();

 private:
  static constexpr size_t kFlush = size_t{1} << 16;
  TextSink& sink_;
  std::string text_;
};

}  // namespace hone::trace

template <>
struct fmt::formatter<hone::trace::Microseconds> {
  constexpr auto parse(fmt::format_parse_context& context) { return context.begin(); }
  auto format(const hone::trace::Microseconds& value, fmt::format_context& context) const {
    // Rounded down, so that the digits after the point count upwards on both sides of 0.
    const int64_t rest = ((value.time % 1000) + 1000) % 1000;
    const int64_t whole = (value.time - rest) / 1000;
    if (value.whole || rest == 0) return fmt::format_to(context.out(), "{}", whole);
    if (whole >= 0) return fmt::format_to(context.out(), "{}.{:03}", whole, rest);
    return fmt::format_to(context.out(), "-{}.{:03}", -whole - 1, 1000 - rest);
  }
};
