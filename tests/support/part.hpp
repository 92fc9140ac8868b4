// The part that one of several processes takes of a check that they share.
#pragma once

#include <cstddef>
#include <cstdio>
#include <optional>
#include <string>

namespace hone {

/// Every `of`-th case, from `first` on.
struct Part {
  size_t first = 0;
  size_t of = 1;

  /// Parses "2/8": the second of eight. None where the text is not K/N with K from 1 to N.
  static std::optional<Part> parse(const std::string& text) {
    size_t number = 0;
    size_t of = 0;
    char more = 0;
    if (std::sscanf(text.c_str(), "%zu/%zu%c", &number, &of, &more) != 2 || number < 1 || number > of)
      return std::nullopt;
    return Part{number - 1, of};
  }
};

}  // namespace hone
