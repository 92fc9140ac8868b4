// Rewrites an exception of CLI11 as one clear sentence about the mistake on the command line.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace hone::cli {

/// Needed because CLI11 says "1 required FLOAT:FLOAT in [0 - 9] missing". `command` is the one whose options
/// were parsed.
std::string usage_sentence(const CLI::ParseError& error, const CLI::App& command);

}  // namespace hone::cli
