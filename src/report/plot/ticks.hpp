// Chooses the ticks of an axis and formats their labels.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace hone::report {

/// Multiples of 1, 2 or 5 times a power of ten in [low, high], at most `most` of them; `most` must be at
/// least 3, and low < high.
std::vector<double> linear_ticks(double low, double high, size_t most);

/// 1, 2 and 5 times the powers of ten in [low, high] if these are at most `most`, else the powers of ten,
/// else every second, third … of them; linear ticks if fewer than two remain. 0 < low < high.
std::vector<double> log_ticks(double low, double high, size_t most);

/// "0.25", "20", "10 000": the shortest text that distinguishes the tick from others.
std::string tick_text(double value);

/// Four significant digits, or all digits of larger numbers: "0.2367", "11 640".
std::string value_text(double value);

}  // namespace hone::report
