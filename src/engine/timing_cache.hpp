// Results of tactic searches on disk, so that building the same step again times nothing.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace hone::engine {

/// What a search found for one step in one layout.
struct TimingEntry {
  /// Candidate and its median, lower quartile (microseconds) and sample count.
  struct Time {
    double median_us = 0;
    double lower_quartile_us = 0;
    int samples = 0;
  };
  std::string chosen;
  std::map<std::string, Time> times;
  /// "tactic: reason"; of an entry of an earlier version none.
  std::vector<std::string> refusals;
};

/// One JSON file per device fingerprint and thread count. A file that cannot be read counts as empty: a cache
/// is never the reason a build fails.
class TimingCache {
 public:
  /// An empty folder means a cache that forgets.
  TimingCache(const std::filesystem::path& folder, const std::string& fingerprint, int threads);

  const TimingEntry* find(const std::string& signature) const;
  void set(const std::string& signature, TimingEntry entry);
  /// Adds what was set to the file, beside what other builds have added meanwhile; keeps quiet when it
  /// cannot. Entries that this build did not use are left out beyond `most_bytes`.
  void save(uint64_t most_bytes = kMostBytes) const;
  const std::filesystem::path& file() const { return file_; }

 private:
  static constexpr uint64_t kMostBytes = 32u << 20;

  std::map<std::string, TimingEntry> read() const;
  std::string text_of(const std::map<std::string, TimingEntry>& entries, uint64_t most_bytes) const;

  std::filesystem::path file_;
  std::string fingerprint_;
  std::map<std::string, TimingEntry> entries_;
  mutable std::set<std::string> used_;
  std::set<std::string> changed_;
};

}  // namespace hone::engine
