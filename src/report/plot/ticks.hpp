// Where an axis has marks, and what stands at them.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace hone::report {

/// Multiples of 1, 2 or 5 times a power of ten in [low, high]; at most `most` of them, which is at least 3.
/// low < high.
std::vector<double> linear_ticks(double low, double high, size_t most);

/// 1, 2 and 5 times the powers of ten in [low, high] when those are at most `most`, else the powers, else
/// every second, third … of them; linear ones where that leaves less than two. 0 < low < high.
std::vector<double> log_ticks(double low, double high, size_t most);

/// "0.25", "20", "10 000"; the shortest text that distinguishes the tick from others.
std::string tick_text(double value);

/// Four significant digits, all digits of larger numbers: "0.2367", "11 640".
std::string value_text(double value);

}  // namespace hone::report
