// What is asked of options beyond what CLI11 asks.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace hone::cli {

/// A number between these two. CLI::Range and CLI::NonNegativeNumber let NaN through, which is neither below
/// nor above anything.
CLI::Validator finite_range(double least, double most);

using OptionList = std::vector<const CLI::Option*>;

/// Usage error "--flag REASON" for the first of these options that was given: silently ignored, it would
/// promise what does not happen.
void refuse_given(const OptionList& options, const std::string& reason);

}  // namespace hone::cli
