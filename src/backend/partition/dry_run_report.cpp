// See dry_run_report.hpp.
#include "backend/partition/dry_run_report.hpp"

#include <fmt/format.h>

#include <charconv>
#include <numeric>
#include <optional>
#include <sstream>
#include <string_view>

#include "base/error.hpp"
#include "base/file.hpp"

namespace hone::backend::partition {
namespace {

constexpr uint64_t kLargestFile = uint64_t{16} << 20;

/// The number after `text`, wherever `text` is in the line.
std::optional<int64_t> number_behind(std::string_view line, std::string_view text) {
  const size_t at = line.find(text);
  if (at == std::string_view::npos) return std::nullopt;
  int64_t number = 0;
  const char* const begin = line.data() + at + text.size();
  const auto [end, error] = std::from_chars(begin, line.data() + line.size(), number);
  if (error != std::errc() || end == begin || number < 0) return std::nullopt;
  return number;
}

/// Parses " torch.ops.aten.sort.default: 2".
std::optional<std::pair<std::string, int64_t>> counted_operator(std::string_view line) {
  const size_t begin = line.find_first_not_of(' ');
  const size_t colon = line.rfind(": ");
  if (begin == std::string_view::npos || colon == std::string_view::npos || colon <= begin)
    return std::nullopt;
  const std::string_view name = line.substr(begin, colon - begin);
  const auto count = number_behind(line.substr(colon), ": ");
  if (name.find(' ') != std::string_view::npos || !count) return std::nullopt;
  return std::pair(std::string(name), *count);
}

std::string counted(int64_t count, std::string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

}  // namespace

DryRunReport read_dry_run_report(const std::filesystem::path& file) {
  std::istringstream lines(base::read_file(file, kLargestFile));
  DryRunReport report;
  bool found = false;
  bool in_unsupported = false;
  for (std::string line; std::getline(lines, line);) {
    if (const auto all = number_behind(line, "consists of ");
        all && line.find("Total Operators") != line.npos) {
      report = {.operators = *all, .supported = number_behind(line, "of which ").value_or(0)};
      found = true;
    }
    if (const auto size = number_behind(line, "Number of Operators in Engine: "))
      report.engines.push_back(*size);
    if (const auto size = number_behind(line, "min_block_size="); size) {
      for (const std::string_view says : {"would generate ", "generates "}) {
        if (const auto engines = number_behind(line, says)) report.advice.emplace_back(*size, *engines);
      }
    }
    const auto op = in_unsupported ? counted_operator(line) : std::nullopt;
    if (op) report.unsupported.push_back(*op);
    in_unsupported = op || line.find("listed with their op-count in the graph:") != line.npos;
  }
  if (!found)
    fail_bad_input(
        "{} holds no dry-run report of Torch-TensorRT, as torch_tensorrt.dynamo.compile(..., dryrun=True) "
        "makes it",
        file.string());
  return report;
}

std::string dry_run_text(const DryRunReport& report) {
  const int64_t inside = std::accumulate(report.engines.begin(), report.engines.end(), int64_t{0});
  std::string text =
      fmt::format("Torch-TensorRT's dry run: {} of {} in {}", inside, counted(report.operators, "operator"),
                  counted(static_cast<int64_t>(report.engines.size()), "engine"));
  for (size_t i = 0; i < report.unsupported.size(); ++i)
    text += fmt::format("{}{} ({})", i == 0 ? "; not taken: " : ", ", report.unsupported[i].first,
                        report.unsupported[i].second);
  for (size_t i = 0; i < report.advice.size(); ++i)
    text += fmt::format("{}min_block_size {} gives {}", i == 0 ? "; it says that " : ", ",
                        report.advice[i].first, counted(report.advice[i].second, "engine"));
  return text;
}

}  // namespace hone::backend::partition
