// Results of tactic searches on disk, so that building the same step again times nothing.
#pragma once

#include <filesystem>
#include <map>
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
  /// Writes the file when something was added; keeps quiet when it cannot.
  void save() const;
  const std::filesystem::path& file() const { return file_; }

 private:
  std::filesystem::path file_;
  std::string fingerprint_;
  std::map<std::string, TimingEntry> entries_;
  bool changed_ = false;
};

}  // namespace hone::engine
