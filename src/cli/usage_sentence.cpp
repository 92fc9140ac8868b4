// See usage_sentence.hpp.
#include "cli/usage_sentence.hpp"

#include <fmt/format.h>

#include <string_view>

namespace hone::cli {

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
  if (dynamic_cast<const CLI::RequiredError*>(&error) != nullptr && said == "A subcommand is required")
    return "a command is missing";
  return said;
}

}  // namespace hone::cli
