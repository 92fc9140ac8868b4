// The difference of two texts, line by line, for people.
#pragma once

#include <string>

namespace hone::test {

/// Every line of both texts in order: "  " before one that both have, "- " before one that only `expected`
/// has,
/// "+ " before one that only `actual` has. As few of the latter as can be (longest common subsequence).
std::string line_diff(const std::string& expected, const std::string& actual);

}  // namespace hone::test
