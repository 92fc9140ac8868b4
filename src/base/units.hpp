// Times, sizes, rates and shares for people: four significant digits and a suitable unit.
#pragma once

#include <cstdint>
#include <string>

namespace hone::base {

/// "870 ns", "12.34 us", "3.500 ms", "1.250 s".
std::string time_text(double nanoseconds);
/// "512 B", "4.096 kB", "150.8 GB"; decimal units.
std::string bytes_text(double bytes);
/// "25.31 GB/s".
std::string rate_text(double bytes_per_second);
/// "12.3 %", for a share between 0 and 1.
std::string share_text(double share);
/// "+12.3 %", for a change by this share.
std::string change_text(double share);
/// Four significant digits (more if there are more before the point), without an exponent for large numbers:
/// "751.8", "0.01234", "28796".
std::string number_text(double value);
/// "1.00", "12.3", "123", for a ratio.
std::string factor_text(double factor);

}  // namespace hone::base
