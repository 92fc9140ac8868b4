// `hone cache`: lists and removes the files that hone keeps between runs.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <memory>

#include "base/file.hpp"
#include "base/units.hpp"
#include "cli/command.hpp"
#include "report/terminal/sheet.hpp"

namespace hone::cli {
namespace {

namespace fs = std::filesystem;

struct Kind {
  std::string_view name;
  /// Prefix of the names of these entries in the cache folder.
  std::string_view prefix;
  std::string_view text;
  /// True if `clear` without a named kind removes it. False for entries whose replacement needs minutes and a
  /// network.
  bool usual = true;
};

constexpr auto kKinds = std::to_array<Kind>({
    {"timings", "timings-", "Times of tactics: the next build measures them again"},
    {"partition", "partition", "Times of nodes by backend, for hone partition"},
    {"reference", "reference", "Outputs of the reference, for the errors in hone bench"},
    {"roof", "roof", "Rates of this CPU, for the floors of layers"},
    {"tensorrt", "tensorrt", "Plans and timing caches of TensorRT"},
    {"toolkit", "cuda-", "CUDA's compiler and libraries, as tools/cuda_toolkit.py fetched them", false},
});

struct Found {
  std::vector<fs::path> entries;
  uintmax_t bytes = 0;
};

/// A missing file counts as 0 bytes: another program may remove it at any moment.
uintmax_t bytes_of(const fs::path& entry) {
  std::error_code gone;
  if (!fs::is_directory(entry, gone)) {
    const uintmax_t bytes = fs::file_size(entry, gone);
    return gone ? 0 : bytes;
  }
  uintmax_t sum = 0;
  for (auto at = fs::recursive_directory_iterator(entry, gone);
       !gone && at != fs::recursive_directory_iterator(); at.increment(gone)) {
    std::error_code vanished;
    if (!at->is_regular_file(vanished) || at->is_symlink(vanished)) continue;
    if (const uintmax_t bytes = at->file_size(vanished); !vanished) sum += bytes;
  }
  return sum;
}

Found find(const fs::path& folder, const Kind& kind) {
  Found found;
  std::error_code missing;
  for (auto at = fs::directory_iterator(folder, missing); !missing && at != fs::directory_iterator();
       at.increment(missing)) {
    if (!at->path().filename().string().starts_with(kind.prefix)) continue;
    found.entries.push_back(at->path());
    found.bytes += bytes_of(at->path());
  }
  return found;
}

void list(const fs::path& folder) {
  report::Sheet sheet{
      folder.string(), {{"Size", "B"}, {"Kind", "", false}, {"What it holds", "", false}}, {}, {}};
  sheet.whole = true;
  for (const Kind& kind : kKinds) {
    const Found found = find(folder, kind);
    if (!found.entries.empty())
      sheet.rows.push_back({report::bytes_cell(static_cast<double>(found.bytes)),
                            report::text_cell(std::string(kind.name)),
                            report::text_cell(std::string(kind.text))});
  }
  sheet.notes.emplace_back(sheet.rows.empty()
                               ? "Nothing is kept."
                               : "hone cache clear removes all but the toolkit; hone cache clear KIND one.");
  for (const std::string& line : sheet_text(sheet, {})) fmt::print("{}\n", line);
}

void clear(const fs::path& folder, const std::vector<std::string>& names) {
  uintmax_t bytes = 0;
  for (const Kind& kind : kKinds) {
    const bool named = std::find(names.begin(), names.end(), kind.name) != names.end();
    if (names.empty() ? !kind.usual : !named) continue;
    const Found found = find(folder, kind);
    for (const fs::path& entry : found.entries) {
      std::error_code error;
      fs::remove_all(entry, error);
      if (error) fail_environment("cannot remove {}: {}", entry.string(), error.message());
    }
    bytes += found.bytes;
  }
  fmt::print("removed {} from {}\n", base::bytes_text(static_cast<double>(bytes)), folder.string());
}

struct Options {
  std::string action;
  std::vector<std::string> kinds;
};

void run(const Options& options) {
  const fs::path folder = base::cache_directory();
  if (folder.empty()) fail_environment("there is no cache folder: set HONE_CACHE_DIR or HOME");
  if (options.action.empty()) return list(folder);
  clear(folder, options.kinds);
}

}  // namespace

void add_cache_command(CLI::App& program) {
  CLI::App* command =
      program.add_subcommand("cache", "List the cached timings and downloads, or remove them");
  const auto options = std::make_shared<Options>();
  command->add_option("action", options->action, "clear removes entries; without it, the cache is listed")
      ->check(CLI::IsMember({"clear"}));
  std::vector<std::string> names;
  for (const Kind& kind : kKinds) names.emplace_back(kind.name);
  command->add_option("kind", options->kinds, "Kinds to remove (default: all but the toolkit)")
      ->check(CLI::IsMember(names));
  command->callback([options] { run(*options); });
}

}  // namespace hone::cli
