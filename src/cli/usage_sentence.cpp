// See usage_sentence.hpp.
#include "cli/usage_sentence.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "base/spelling.hpp"

namespace hone::cli {

namespace {

/// Rewrites "--only: layer not in {summary,layers}" to "--only: 'layer' is none of summary, layers; did you
/// mean layers?". Returns an empty text for other sentences.
std::string choice_sentence(const std::string& said) {
  constexpr std::string_view kNotIn = " not in {";
  const size_t at = said.find(kNotIn);
  const size_t colon = said.find(": ");
  if (at == std::string::npos || colon == std::string::npos || colon > at || !said.ends_with('}')) return "";
  const std::string value = said.substr(colon + 2, at - colon - 2);
  std::vector<std::string> choices;
  std::string_view rest = std::string_view(said).substr(at + kNotIn.size());
  rest.remove_suffix(1);
  while (!rest.empty()) {
    const size_t end = std::min(rest.find(','), rest.size());
    choices.emplace_back(rest.substr(0, end));
    rest.remove_prefix(std::min(rest.size(), end + 1));
  }
  const auto nearest = base::nearest_name(value, choices);
  return fmt::format("{}: '{}' is none of {}{}", said.substr(0, colon), value, fmt::join(choices, ", "),
                     nearest ? fmt::format("; did you mean {}?", *nearest) : "");
}

}  // namespace

std::string usage_sentence(const CLI::ParseError& error) {
  const std::string said = error.what();
  const auto before = [&](std::string_view mark) { return said.substr(0, said.find(mark)); };
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr) {
    if (said.ends_with("missing")) return before(":") + " needs a value";
    if (said.find("flag override") != std::string::npos) return before(" was given") + " takes no value";
    if (said.find("required but received") != std::string::npos)
      return before(":") + " takes one value, and was given several";
  }
  if (dynamic_cast<const CLI::ExcludesError*>(&error) != nullptr) {
    const std::string first = before(" excludes ");
    return fmt::format("{} and {} exclude each other", first, said.substr(first.size() + 10));
  }
  if (dynamic_cast<const CLI::RequiresError*>(&error) != nullptr) {
    const std::string first = before(" requires ");
    return fmt::format("{} needs {} with it", first, said.substr(first.size() + 10));
  }
  if (const std::string sentence = choice_sentence(said); !sentence.empty()) return sentence;
  if (dynamic_cast<const CLI::RequiredError*>(&error) != nullptr && said == "A subcommand is required")
    return "a command is missing";
  return said;
}

}  // namespace hone::cli
