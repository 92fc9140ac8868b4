// See step_key.hpp.
#include "engine/step_key.hpp"

#include <fmt/format.h>

#include <charconv>

#include "base/error.hpp"

namespace hone::engine {

StepKey StepKey::piece(int32_t index) const {
  StepKey key = *this;
  key.path.push_back(index);
  return key;
}

std::string StepKey::text() const {
  std::string text = std::to_string(node);
  for (const int32_t index : path) text += fmt::format("/{}", index);
  return text;
}

StepKey parse_step_key(std::string_view text) {
  std::vector<int32_t> numbers;
  const char* const end = text.data() + text.size();
  const char* next = text.data();
  do {
    if (!numbers.empty()) ++next;  // skips the slash
    const auto [stopped, error] = std::from_chars(next, end, numbers.emplace_back());
    if (error != std::errc() || numbers.back() < 0 || (stopped != end && *stopped != '/'))
      fail_bad_input("'{}' names no step: a node and its pieces are numbers like 12/0", text);
    next = stopped;
  } while (next != end);
  return {numbers.front(), {numbers.begin() + 1, numbers.end()}};
}

}  // namespace hone::engine
