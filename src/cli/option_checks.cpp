// See option_checks.hpp.
#include "cli/option_checks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdint>
#include <iterator>
#include <limits>
#include <string_view>

#include "backend/registry.hpp"
#include "base/error.hpp"

namespace hone::cli {
namespace {

/// Returns "1 to 1024" if the type of the option names a range, else the limits of T.
template <class T>
std::string range_of(const std::string& type) {
  using Limits = std::numeric_limits<T>;
  const std::string range = range_text(type);
  return range.empty() ? fmt::format("{} to {}", Limits::min(), Limits::max()) : range;
}

/// Rewrites the number in plain decimal form. Returns the reason if the text is not such a number, else an
/// empty text.
template <class T>
std::string plain_number(std::string* text, const std::string& type) {
  T value = 0;
  const char* const end = text->data() + text->size();
  const auto [stop, error] = std::from_chars(text->data(), end, value);
  const bool negative = std::is_unsigned_v<T> && text->starts_with('-');
  if (negative || (error == std::errc::result_out_of_range && stop == end))
    return fmt::format("Value {} not in range {}", *text, range_of<T>(type));
  if (error != std::errc() || stop != end)
    return fmt::format("Value {} not in range {}", *text, range_of<T>(type));
  *text = std::to_string(value);
  return "";
}

CLI::Validator value_check(const std::string& type) {
  // Matches the prefix, because types such as "INT in [0 - 5]" and "INT:…" exist too.
  const bool natural = type.starts_with("UINT");
  const bool whole = type.starts_with("INT");
  return {[natural, whole, type](std::string& text) -> std::string {
            if (text.empty()) return "Value is empty";
            if (natural) return plain_number<uint64_t>(&text, type);
            return whole ? plain_number<int64_t>(&text, type) : "";
          },
          ""};
}

}  // namespace

std::string range_text(const std::string& type) {
  constexpr std::string_view kOpen = " in [";
  constexpr std::string_view kBetween = " - ";
  const size_t open = type.find(kOpen);
  const size_t between = type.find(kBetween, open);
  const size_t close = type.find(']', between);
  if (open == std::string::npos || close == std::string::npos) return "";
  const size_t least = open + kOpen.size();
  const size_t most = between + kBetween.size();
  return fmt::format("{} to {}", type.substr(least, between - least), type.substr(most, close - most));
}

CLI::Validator finite_range(double least, double most) {
  const auto check = [least, most](const std::string& text) -> std::string {
    double value = 0;
    if (CLI::detail::lexical_cast(text, value) && value >= least && value <= most) return "";
    return fmt::format("Value {} not in range {:.10g} to {:.10g}", text, least, most);
  };
  return {check, fmt::format("FLOAT in [{:.10g} - {:.10g}]", least, most)};
}

void refuse_given(const OptionList& options, const std::string& reason) {
  for (const CLI::Option* option : options) {
    if (option->count() > 0) fail_usage("{} {}", option->get_name(), reason);
  }
}

namespace {

/// True for options whose values are names of devices, precisions, backends and the like, which are lower
/// case.
bool takes_names(const CLI::Option& option) {
  constexpr std::string_view kNames[] = {"--device",   "--precision",  "--precisions", "--backend",
                                         "--backends", "--compare-to", "--to",         "--formats",
                                         "--layout",   "--only",       "--theme"};
  return std::find(std::begin(kNames), std::end(kNames), option.get_name()) != std::end(kNames);
}

bool takes_backends(const CLI::Option& option) {
  return option.get_name().starts_with("--backend") || option.get_name() == "--compare-to";
}

/// Converts to lower case, except for external backends, whose names may have capitals.
CLI::Validator lower_case(bool is_backend) {
  return {[is_backend](std::string& text) -> std::string {
            std::string lower = text;
            std::transform(lower.begin(), lower.end(), lower.begin(),
                           [](unsigned char c) { return std::tolower(c); });
            if (is_backend) {
              const std::vector<std::string> known = backend::backend_names();
              if (std::find(known.begin(), known.end(), lower) == known.end()) return "";
            }
            text = lower;
            return "";
          },
          ""};
}

}  // namespace

void check_values(CLI::App& program) {
  for (CLI::App* command : program.get_subcommands([](CLI::App*) { return true; })) {
    for (CLI::Option* option : command->get_options()) {
      // Flags take no value. CLI11 applies a transformation before all checks.
      if (option->get_items_expected_max() > 0) option->transform(value_check(option->get_type_name()));
      if (takes_names(*option)) option->transform(lower_case(takes_backends(*option)));
    }
  }
}

void refuse_overwriting(const std::filesystem::path& output, const std::vector<std::string>& inputs) {
  for (const std::string& input : inputs) {
    std::error_code missing;
    if (std::filesystem::equivalent(output, input, missing))
      fail_usage("{}: the output is the input", output.string());
  }
}

bool is_one_file(const std::filesystem::path& a, const std::filesystem::path& b) {
  // Errors are ignored here: opening the file later reports the reason.
  std::error_code unknown;
  if (std::filesystem::equivalent(a, b, unknown)) return true;
  const auto full = [&](const std::filesystem::path& path) {
    return std::filesystem::weakly_canonical(std::filesystem::absolute(path, unknown), unknown);
  };
  return !full(a).empty() && full(a) == full(b);
}

namespace {

/// Extensions of the files that hone reads and writes.
bool is_known_kind(const std::string& extension) {
  constexpr std::string_view kKinds[] = {".hone", ".onnx", ".json", ".csv", ".html",        ".sqlite", ".svg",
                                         ".png",  ".cfg",  ".pt",   ".mp4", ".safetensors", ".plan"};
  return std::find(std::begin(kKinds), std::end(kKinds), extension) != std::end(kKinds);
}

std::string lower_extension(const std::filesystem::path& path) {
  std::string extension = path.extension().string();
  std::transform(extension.begin(), extension.end(), extension.begin(),
                 [](unsigned char c) { return std::tolower(c); });
  return extension;
}

}  // namespace

void refuse_other_kind(const std::filesystem::path& output, std::string_view own, std::string_view what) {
  const std::string extension = lower_extension(output);
  if (extension == own || !is_known_kind(extension)) return;
  fail_usage("-o names the {} to write, and {} is named like another kind of file: give -o {}{}", what,
             output.string(), output.stem().string(), own);
}

void refuse_file_name(std::string_view option, const std::filesystem::path& folder, std::string_view what) {
  std::error_code unknown;
  if (!is_known_kind(lower_extension(folder)) || std::filesystem::exists(folder, unknown)) return;
  fail_usage("{} names the folder for {}, and {} looks like a file", option, what, folder.string());
}

}  // namespace hone::cli
