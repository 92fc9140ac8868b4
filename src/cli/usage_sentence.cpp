// See usage_sentence.hpp.
#include "cli/usage_sentence.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>
#include <vector>

#include "base/spelling.hpp"
#include "cli/option_checks.hpp"

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

std::optional<double> number_of(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

/// A value that the option takes: its default, else 1, 0.5 or the least.
std::string example_of(const CLI::Option& option, bool whole, const std::string& range) {
  constexpr std::string_view kTo = " to ";
  if (number_of(option.get_default_str())) return option.get_default_str();
  const size_t to = range.find(kTo);
  const std::string least = range.substr(0, to);
  if (to == std::string::npos) return "1";
  const double low = number_of(least).value_or(0);
  const double high = number_of(range.substr(to + kTo.size())).value_or(0);
  if (low <= 1 && high >= 1) return "1";
  return !whole && low <= 0.5 && high >= 0.5 ? "0.5" : least;
}

/// "--threads is 'x', expected a whole number from 1 to 64, as in --threads 1"; empty for other sentences.
std::string number_sentence(const std::string& said, const CLI::App& command) {
  constexpr std::string_view kValue = ": Value ";
  constexpr std::string_view kRange = " not in range ";
  constexpr std::string_view kConvert = "Could not convert: ";
  constexpr std::string_view kIs = " = ";
  std::string name;
  std::string given;
  std::string range;
  const size_t value = said.find(kValue);
  const size_t bounds = said.find(kRange);
  const size_t is = said.find(kIs);
  if (value != std::string::npos && bounds != std::string::npos && bounds > value) {
    name = said.substr(0, value);
    given = said.substr(value + kValue.size(), bounds - value - kValue.size());
    range = said.substr(bounds + kRange.size());
  } else if (said.starts_with(kConvert) && is != std::string::npos) {
    name = said.substr(kConvert.size(), is - kConvert.size());
    given = said.substr(is + kIs.size());
  }
  const CLI::Option* const option = name.empty() ? nullptr : command.get_option_no_throw(name);
  if (option == nullptr) return "";
  const std::string type = option->get_type_name();
  const bool whole = type.starts_with("INT") || type.starts_with("UINT");
  if (!whole && !type.starts_with("FLOAT")) return "";
  if (range.empty()) range = range_text(type);
  return fmt::format("{0} is '{1}', expected a {2}number{3}, as in {0} {4}", name, given,
                     whole ? "whole " : "", range.empty() ? "" : " from " + range,
                     example_of(*option, whole, range));
}

}  // namespace

std::string usage_sentence(const CLI::ParseError& error, const CLI::App& command) {
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
  if (const std::string sentence = number_sentence(said, command); !sentence.empty()) return sentence;
  if (dynamic_cast<const CLI::RequiredError*>(&error) != nullptr && said == "A subcommand is required")
    return "a command is missing";
  return said;
}

}  // namespace hone::cli
