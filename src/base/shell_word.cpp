// See shell_word.hpp.
#include "base/shell_word.hpp"

#include <algorithm>
#include <cctype>
#include <string_view>

namespace hone::base {

std::string shell_word(const std::string& text) {
  const auto plain = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
           std::string_view("_-./+=,").find(c) != std::string_view::npos;
  };
  return std::all_of(text.begin(), text.end(), plain) ? text : "'" + text + "'";
}

}  // namespace hone::base
