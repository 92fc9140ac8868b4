// The operator table as text for people.
#pragma once

#include <string>

#include "graph/operator.hpp"

namespace hone::graph {

/// "2", "1 to 3", "1 or more".
std::string count_text(int minimum, int maximum);
/// "axis: int = 0", "to: int, required", "perm: ints, optional".
std::string attribute_text(const AttributeDef& attribute);
/// The whole table as Markdown: the content of docs/OPERATORS.md.
std::string operators_markdown();

}  // namespace hone::graph
