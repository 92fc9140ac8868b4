// Checks of options that CLI11 does not offer.
#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <string>
#include <vector>

namespace hone::cli {

/// Accepts a number between both limits. CLI::Range and CLI::NonNegativeNumber accept NaN, because every
/// comparison with NaN is false.
CLI::Validator finite_range(double least, double most);

/// Converts the type name "INT:INT in [1 - 64]" of an option to "1 to 64"; empty if it has no bounds.
std::string range_text(const std::string& type);

using OptionList = std::vector<const CLI::Option*>;

/// Throws the usage error "--flag REASON" for the first of these options that was given. Ignoring an option
/// silently would mislead the user.
void refuse_given(const OptionList& options, const std::string& reason);

/// Adds checks to every option of every command: an empty value would count as "not given", CLI11 would read
/// 010 as 8, and -1 as the largest number of an unsigned type.
void check_values(CLI::App& program);

/// Throws a usage error if the output is one of the inputs, even under another name, because writing it would
/// destroy the input.
void refuse_overwriting(const std::filesystem::path& output, const std::vector<std::string>& inputs);

/// Returns whether both names refer to one file, which need not exist yet.
bool is_one_file(const std::filesystem::path& a, const std::filesystem::path& b);

/// Throws a usage error for an output file with the extension of another kind, such as an engine named
/// model.onnx. `own` is the right extension, `what` describes such outputs.
void refuse_other_kind(const std::filesystem::path& output, std::string_view own, std::string_view what);

/// Throws a usage error for an output folder that does not exist and whose name looks like that of a file.
/// `option` is the option that takes it, `what` is what is written into it.
void refuse_file_name(std::string_view option, const std::filesystem::path& folder, std::string_view what);

}  // namespace hone::cli
