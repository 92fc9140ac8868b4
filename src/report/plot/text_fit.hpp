// Texts of any length and origin made to fit a picture.
#pragma once

#include <string>
#include <vector>

#include "report/plot/scene.hpp"

namespace hone::report {

/// Valid UTF-8: bytes that are none become '?', control characters spaces.
std::string drawable_text(const std::string& text);

/// The text, its middle left out where it is wider than `width`.
std::string fit_text(const std::string& text, double width, double size, bool bold,
                     const TextMeasure& measure);

/// Lines no wider than `width`, at most `most`; what does not fit ends in "…".
std::vector<std::string> wrap_text(const std::string& text, double width, double size, size_t most,
                                   const TextMeasure& measure);

}  // namespace hone::report
