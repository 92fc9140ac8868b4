// Letters as wide as half their height, without cairo.
#pragma once

#include <algorithm>
#include <string>

namespace hone::report {

inline double fake_measure(const std::string& text, double size, bool bold) {
  const auto letters = std::count_if(text.begin(), text.end(),
                                     [](char c) { return (static_cast<unsigned char>(c) & 0xc0U) != 0x80; });
  return static_cast<double>(letters) * size * (bold ? 0.55 : 0.5);
}

}  // namespace hone::report
