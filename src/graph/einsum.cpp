// See einsum.hpp.
#include "graph/einsum.hpp"

#include <algorithm>
#include <map>
#include <string>

#include "base/error.hpp"

namespace hone::graph {
namespace {

/// Labels of one term; `ellipsis` is the number of axes that "..." replaces in it.
std::vector<int> parse_term(std::string_view equation, std::string_view term, int64_t ellipsis) {
  std::vector<int> labels;
  bool seen = false;
  for (size_t i = 0; i < term.size(); ++i) {
    const char c = term[i];
    if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) {
      labels.push_back(c);
      continue;
    }
    if (seen || term.substr(i, 3) != "...")
      fail_bad_input("equation '{}' cannot be read at '{}'", equation, term.substr(i));
    seen = true;
    i += 2;
    for (int64_t axis = ellipsis; axis > 0; --axis) labels.push_back(static_cast<int>(-axis));
  }
  return labels;
}

/// Number of axes that "..." replaces in a term of an operand of this rank.
int64_t ellipsis_length(std::string_view equation, std::string_view term, int64_t rank) {
  const bool has_ellipsis = term.find("...") != std::string_view::npos;
  const auto letters = static_cast<int64_t>(term.size()) - (has_ellipsis ? 3 : 0);
  if (has_ellipsis ? letters > rank : letters != rank) {
    fail_bad_input("term '{}' of equation '{}' does not fit an input of rank {}", term, equation, rank);
  }
  return rank - letters;
}

std::vector<int> implicit_output(const std::vector<std::vector<int>>& inputs) {
  std::map<int, int> counts;
  for (const auto& term : inputs) {
    for (const int label : term) ++counts[label];
  }
  std::vector<int> output;
  // The labels of the ellipsis are negative, so they sort first and in their own order.
  for (const auto& [label, count] : counts) {
    if (label < 0 || count == 1) output.push_back(label);
  }
  return output;
}

}  // namespace

EinsumEquation parse_einsum(std::string_view equation, std::span<const int64_t> ranks) {
  std::string text(equation);
  std::erase(text, ' ');
  const size_t arrow = text.find("->");
  std::string_view left = std::string_view(text).substr(0, arrow);
  EinsumEquation result;
  int64_t longest = 0;
  while (true) {
    const size_t comma = left.find(',');
    const std::string_view term = left.substr(0, comma);
    const size_t i = result.inputs.size();
    if (i >= ranks.size())
      fail_bad_input("equation '{}' has more terms than the {} inputs", equation, ranks.size());
    const int64_t ellipsis = ellipsis_length(equation, term, ranks[i]);
    longest = std::max(longest, ellipsis);
    result.inputs.push_back(parse_term(equation, term, ellipsis));
    if (comma == std::string_view::npos) break;
    left.remove_prefix(comma + 1);
  }
  if (result.inputs.size() != ranks.size()) {
    fail_bad_input("equation '{}' has {} terms for {} inputs", equation, result.inputs.size(), ranks.size());
  }
  if (arrow == std::string::npos) {
    result.output = implicit_output(result.inputs);
    return result;
  }
  result.output = parse_term(equation, std::string_view(text).substr(arrow + 2), longest);
  for (size_t i = 0; i < result.output.size(); ++i) {
    const int label = result.output[i];
    const auto rest = std::span(result.output).subspan(i + 1);
    const bool known = std::any_of(result.inputs.begin(), result.inputs.end(), [&](const auto& term) {
      return std::find(term.begin(), term.end(), label) != term.end();
    });
    if (!known || std::find(rest.begin(), rest.end(), label) != rest.end()) {
      fail_bad_input("the output of equation '{}' names an axis that is no input's, or names one twice",
                     equation);
    }
  }
  return result;
}

}  // namespace hone::graph
