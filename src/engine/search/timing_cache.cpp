// See timing_cache.hpp.
#include "engine/search/timing_cache.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/json.hpp"

namespace hone::engine {
namespace {

/// Must be increased whenever tactics are added or changed, or times change their meaning, because cached
/// steps would not be searched again.
constexpr int kVersion = 22;
constexpr uint64_t kMaxFileBytes = 64u << 20;

uint64_t hash(const std::string& text) {
  uint64_t value = 1469598103934665603ull;  // FNV-1a
  for (const char c : text) value = (value ^ static_cast<unsigned char>(c)) * 1099511628211ull;
  return value;
}

/// Held while a file of the folder is read, changed and written. On file systems without such locks, nothing
/// is locked.
class FolderLock {
 public:
  explicit FolderLock(const std::filesystem::path& folder)
      : descriptor_(::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
    if (descriptor_ >= 0) ::flock(descriptor_, LOCK_EX);
  }
  ~FolderLock() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  int descriptor_;
};

TimingEntry entry_of(const Json& item) {
  TimingEntry entry;
  entry.chosen = item.at("chosen").get<std::string>();
  entry.level = item.at("level").get<int>();
  entry.short_of_memory = item.value("short_of_memory", false);
  entry.cut_short_after = item.value("cut_short_after", 0.0);
  entry.disturbed = item.value("disturbed", false);
  for (const auto& [tactic, time] : item.at("times").items())
    entry.times[tactic] = {time.at(0).get<double>(), time.at(1).get<double>(), time.at(2).get<int>()};
  for (std::string& refusal : item.at("refusals").get<std::vector<std::string>>()) {
    if (refusal.find(": ") != std::string::npos) entry.refusals.push_back(std::move(refusal));
  }
  return entry;
}

Json json_of(const TimingEntry& entry) {
  Json times = Json::object();
  for (const auto& [tactic, time] : entry.times)
    times[tactic] = {time.median_us, time.lower_quartile_us, time.samples};
  Json item = {{"chosen", entry.chosen},
               {"level", entry.level},
               {"times", std::move(times)},
               {"refusals", entry.refusals}};
  if (entry.short_of_memory) item["short_of_memory"] = true;
  if (entry.cut_short_after > 0) item["cut_short_after"] = entry.cut_short_after;
  if (entry.disturbed) item["disturbed"] = true;
  return item;
}

}  // namespace

void check_cache_file(const std::filesystem::path& file, bool must_exist) {
  std::error_code unknown;
  const std::filesystem::file_status status = std::filesystem::status(file, unknown);
  if (!std::filesystem::exists(status)) {
    if (must_exist) throw Error(ErrorKind::kBadInput, "there is no such file", file.string());
  } else if (!std::filesystem::is_regular_file(status)) {
    const bool folder = std::filesystem::is_directory(status);
    throw Error(ErrorKind::kBadInput, folder ? "it is a directory" : "this is not a regular file",
                file.string());
  }
}

TimingCache::TimingCache(const std::filesystem::path& folder, const std::string& fingerprint, int threads)
    : fingerprint_(fmt::format("{}; {} threads", fingerprint, threads)) {
  if (folder.empty()) return;
  file_ = folder / fmt::format("timings-{:016x}.json", hash(fingerprint_));
  entries_ = read();
}

TimingCache TimingCache::of_file(const std::filesystem::path& file, const std::string& fingerprint,
                                 int threads) {
  TimingCache cache({}, fingerprint, threads);
  cache.file_ = file;
  cache.named_ = true;
  cache.entries_ = cache.read();
  return cache;
}

std::map<std::string, TimingEntry> TimingCache::read() const {
  std::map<std::string, TimingEntry> entries;
  try {
    if (!std::filesystem::exists(file_)) return {};
    const Json json = Json::parse(base::read_file(file_, kMaxFileBytes));
    const auto version = json.at("version").get<int>();
    const auto fingerprint = json.at("fingerprint").get<std::string>();
    if (version != kVersion || fingerprint != fingerprint_) {
      if (!named_) return {};
      fail_bad_input("{} holds tactic times of '{}', version {}; this build needs those of '{}', version {}",
                     file_.string(), fingerprint, version, fingerprint_, kVersion);
    }
    for (const auto& [signature, item] : json.at("steps").items()) {
      TimingEntry entry = entry_of(item);
      // A choice that was not timed is invalid.
      if (entry.times.contains(entry.chosen)) entries[signature] = std::move(entry);
    }
  } catch (const Json::exception&) {
    if (!named_) return {};
    fail_bad_input("{} is no file of tactic times", file_.string());
  } catch (const std::exception&) {
    if (!named_) return {};
    throw;
  }
  return entries;
}

bool TimingCache::has_disturbed() const {
  return std::any_of(entries_.begin(), entries_.end(),
                     [](const auto& item) { return item.second.disturbed; });
}

const TimingEntry* TimingCache::find(const std::string& signature, int least_level) const {
  const auto found = entries_.find(signature);
  if (found == entries_.end() || found->second.level < least_level) return nullptr;
  const TimingEntry& entry = found->second;
  const bool incomplete = entry.short_of_memory || (entry.disturbed && retake_disturbed_) ||
                          (entry.cut_short_after > 0 && entry.cut_short_after < seconds_);
  if (incomplete && !accept_incomplete_) return nullptr;
  used_.insert(signature);
  return &found->second;
}

void TimingCache::set(const std::string& signature, TimingEntry entry) {
  entries_[signature] = std::move(entry);
  used_.insert(signature);
  changed_.insert(signature);
}

void TimingCache::save(uint64_t most_bytes) const {
  if (file_.empty() || changed_.empty()) return;
  if (named_) {
    write(most_bytes);
    return;
  }
  try {
    std::filesystem::create_directories(file_.parent_path());
    write(most_bytes);
  } catch (const std::exception&) {
    // If the home folder is read-only or the disk is full, the next build only lacks the cached times.
  }
}

void TimingCache::write(uint64_t most_bytes) const {
  const FolderLock lock(file_.parent_path());
  // Another build may have added entries since this one began.
  std::map<std::string, TimingEntry> entries = read();
  for (const std::string& signature : changed_) entries[signature] = entries_.at(signature);
  base::write_file_atomic(file_, text_of(entries, most_bytes));
}

/// Entries that this build used come first, so that only those of other builds can exceed the limit.
std::string TimingCache::text_of(const std::map<std::string, TimingEntry>& entries,
                                 uint64_t most_bytes) const {
  Json steps = Json::object();
  uint64_t bytes = 0;
  for (const bool used : {true, false}) {
    for (const auto& [signature, entry] : entries) {
      if (used_.contains(signature) != used) continue;
      Json item = json_of(entry);
      bytes += signature.size() + item.dump().size();
      if (!used && bytes > most_bytes) continue;
      steps[signature] = std::move(item);
    }
  }
  return Json{{"version", kVersion}, {"fingerprint", fingerprint_}, {"steps", steps}}.dump();
}

}  // namespace hone::engine
