// See error.hpp.
#include "base/error.hpp"

#include <algorithm>

namespace hone {
namespace {

/// Escapes control characters: names come from files, and a line break would look like a second message,
/// while an escape sequence would control the terminal.
std::string printable(std::string text) {
  const auto is_control = [](char c) { return (c >= 0 && c < ' ') || c == '\x7f'; };
  if (std::none_of(text.begin(), text.end(), is_control)) return text;
  std::string result;
  for (const char c : text) result += is_control(c) ? fmt::format("\\x{:02x}", c) : std::string(1, c);
  return result;
}

}  // namespace

Error::Error(ErrorKind kind, std::string sentence, std::string where)
    : kind_(kind), sentence_(printable(std::move(sentence))), where_(printable(std::move(where))) {
  text_ = where_.empty() ? sentence_ : where_ + ": " + sentence_;
}

Error Error::within(std::string_view outer) const {
  std::string place(outer);
  if (!where_.empty()) place += ": " + where_;
  return Error(kind_, sentence_, std::move(place));
}

}  // namespace hone
