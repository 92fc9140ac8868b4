// One sentence about a mistake on the command line, from CLI11's exception.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace hone::cli {

/// CLI11 speaks of "1 required FLOAT:FLOAT in [0 - 9] missing".
std::string usage_sentence(const CLI::ParseError& error);

}  // namespace hone::cli
