// Makes texts of any length and origin fit into a picture.
#pragma once

#include <string>
#include <vector>

#include "report/plot/scene.hpp"

namespace hone::report {

/// Returns valid UTF-8: invalid bytes become '?', control characters become spaces.
std::string drawable_text(const std::string& text);

/// Returns the text, with its middle left out if it is wider than `width`.
std::string fit_text(const std::string& text, double width, double size, bool bold,
                     const TextMeasure& measure);

/// Breaks the text into at most `most` lines no wider than `width`; a text that does not fit ends with "…".
std::vector<std::string> wrap_text(const std::string& text, double width, double size, size_t most,
                                   const TextMeasure& measure);

}  // namespace hone::report
