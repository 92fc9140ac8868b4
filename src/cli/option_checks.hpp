// Checks of options that CLI11 does not make.
#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
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

/// For every option of every command: an empty value would count as "not given", and of whole numbers CLI11
/// takes 010 for 8, and -1 for the largest one where there is no sign.
void check_values(CLI::App& program);

/// Usage error when the output is one of the inputs, under whatever name: it would be lost.
void refuse_overwriting(const std::filesystem::path& output, const std::vector<std::string>& inputs);

/// Returns whether both names mean one file, which need not exist yet.
bool is_one_file(const std::filesystem::path& a, const std::filesystem::path& b);

/// Usage error for an output file that is named like another kind of file: an engine as model.onnx. `own` is
/// the extension of such outputs, `what` names them.
void refuse_other_kind(const std::filesystem::path& output, std::string_view own, std::string_view what);

/// Usage error for an output folder that is named like a file and not there yet. `option` takes it, `what`
/// goes into it.
void refuse_file_name(std::string_view option, const std::filesystem::path& folder, std::string_view what);

}  // namespace hone::cli
