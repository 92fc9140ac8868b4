// See run_files.hpp.
#include "report/run_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <optional>
#include <set>

namespace hone::report {
namespace {

namespace fs = std::filesystem;

constexpr int kMostLevels = 16;

constexpr std::array<std::string_view, 5> kTraceEndings = {".sqlite", ".sqlite.gz", ".trace.json",
                                                           ".trace.json.gz", ".json.gz"};

/// Returns nothing if the file cannot be read.
std::optional<std::string> beginning(const fs::path& path) {
  std::string bytes(4096, '\0');
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  bytes.resize(static_cast<size_t>(std::max<std::streamsize>(file.gcount(), 0)));
  return bytes;
}

bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

/// The first field of a benchmark result contains this schema.
bool is_sweep(const std::string& bytes) { return contains(bytes, "\"hone.bench\""); }

/// The first field of a partition contains this schema.
bool is_partition(const std::string& bytes) { return contains(bytes, "\"hone.partition\""); }

/// The first field of a file of one or several pipelines contains this schema.
bool is_pipeline(const std::string& bytes) { return contains(bytes, "\"hone.pipeline"); }

class Search {
 public:
  explicit Search(size_t most_entries) : most_entries_(most_entries) {}

  void add(const fs::path& path) {
    std::error_code error;
    if (fs::is_directory(path, error)) {
      add_folder(path);
      return;
    }
    const std::string bytes = fs::is_regular_file(path, error) ? beginning(path).value_or("") : "";
    if (is_partition(bytes)) return add_file({path, RunFileKind::kPartition});
    if (is_pipeline(bytes)) return add_file({path, RunFileKind::kPipeline});
    add_file({path, is_sweep(bytes) ? RunFileKind::kSweep : RunFileKind::kTrace});
  }

  RunFiles take() { return std::move(found_); }

 private:
  void add_file(RunFile file) {
    std::error_code error;
    if (seen_.insert(fs::weakly_canonical(file.path, error)).second) found_.files.push_back(std::move(file));
  }

  void add_folder(const fs::path& folder) {
    std::vector<fs::path> paths;
    size_t entries = 0;
    list(folder, 0, &entries, &paths);
    if (entries > most_entries_) {
      found_.sentences.push_back(
          fmt::format("{}: more than {} files; name a smaller folder", folder.string(), most_entries_));
      return;
    }
    std::sort(paths.begin(), paths.end());
    for (const fs::path& path : paths) {
      if (const auto kind = kind_of(path)) add_file({path, *kind});
    }
  }

  /// std::filesystem::recursive_directory_iterator is not used, because it stops at the first folder that
  /// cannot be read, or skips it silently.
  void list(const fs::path& folder, int level, size_t* entries, std::vector<fs::path>* paths) {
    std::error_code error;
    fs::directory_iterator entry(folder, error);
    for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
      if (++*entries > most_entries_) return;
      std::error_code gone;
      const fs::file_status status = entry->symlink_status(gone);
      if (fs::is_regular_file(status)) paths->push_back(entry->path());
      if (fs::is_directory(status) && level < kMostLevels) list(entry->path(), level + 1, entries, paths);
    }
    if (error) found_.sentences.push_back(fmt::format("{}: {}", folder.string(), error.message()));
  }

  /// The kind of a file in a folder, which may also contain unrelated files.
  std::optional<RunFileKind> kind_of(const fs::path& path) {
    const std::string name = path.filename().string();
    const auto ends_so = [&](std::string_view ending) { return name.ends_with(ending); };
    if (std::any_of(kTraceEndings.begin(), kTraceEndings.end(), ends_so)) return RunFileKind::kTrace;
    if (!name.ends_with(".json")) return std::nullopt;
    const std::optional<std::string> bytes = beginning(path);
    if (!bytes) {
      found_.sentences.push_back(fmt::format("{}: {}", path.string(), std::strerror(errno)));
      return std::nullopt;
    }
    if (is_partition(*bytes)) return RunFileKind::kPartition;
    if (is_pipeline(*bytes)) return RunFileKind::kPipeline;
    if (is_sweep(*bytes)) return RunFileKind::kSweep;
    if (contains(*bytes, "\"traceEvents\"") || contains(*bytes, "\"deviceProperties\""))
      return RunFileKind::kTrace;
    ++found_.others;
    return std::nullopt;
  }

  size_t most_entries_;
  RunFiles found_;
  std::set<fs::path> seen_;
};

}  // namespace

RunFiles find_run_files(const std::vector<std::string>& named, size_t most_entries) {
  Search search(most_entries);
  for (const std::string& path : named) search.add(path);
  return search.take();
}

std::string trace_stem(const std::filesystem::path& path) {
  constexpr std::array<std::string_view, 10> kEndings = {
      ".pt.trace.json.gz", ".pt.trace.json", ".trace.json.gz", ".trace.json", ".trace.sqlite.gz",
      ".trace.sqlite",     ".json.gz",       ".json",          ".sqlite.gz",  ".sqlite"};
  std::string stem = path.filename().string();
  const auto ending = std::find_if(kEndings.begin(), kEndings.end(),
                                   [&](std::string_view each) { return stem.ends_with(each); });
  if (ending != kEndings.end()) stem.resize(stem.size() - ending->size());
  for (char& c : stem) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '.' && c != '-' && c != '_') c = '_';
  }
  return stem.find_first_not_of('.') == std::string::npos ? "trace" : stem;
}

}  // namespace hone::report
