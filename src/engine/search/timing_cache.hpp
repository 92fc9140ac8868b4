// Stores results of tactic searches on disk, so that building the same step again needs no timing.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace hone::engine {

/// The result of a search for one step in one layout.
struct TimingEntry {
  /// Median and lower quartile (microseconds) and number of samples of a candidate.
  struct Time {
    double median_us = 0;
    double lower_quartile_us = 0;
    int samples = 0;
  };
  std::string chosen;
  std::map<std::string, Time> times;
  /// "tactic: reason".
  std::vector<std::string> refusals;
  /// Optimization level of the search; higher levels are more thorough.
  int level = 0;
  /// A candidate that was refused because of too little memory may win at another time.
  bool short_of_memory = false;
  /// The budget in seconds if it was too short for the whole search; else 0.
  double cut_short_after = 0;
  /// Other work disturbed the machine during the search.
  bool disturbed = false;
};

/// Bad input if the file of a timing cache is not a regular file, or does not exist although it must.
void check_cache_file(const std::filesystem::path& file, bool must_exist);

/// One JSON file for each device fingerprint and number of threads.
class TimingCache {
 public:
  /// Opens the cache in a folder; if the folder is empty, nothing is stored. A file that cannot be read
  /// counts as empty, and one that cannot be written is ignored, because a cache that the user did not name
  /// must never fail a build.
  TimingCache(const std::filesystem::path& folder, const std::string& fingerprint, int threads);
  /// Opens the cache in a named file, which may not exist yet. Bad input if it contains anything except times
  /// of this version, device and number of threads; save() throws an environment error if it cannot be
  /// written.
  static TimingCache of_file(const std::filesystem::path& file, const std::string& fingerprint, int threads);

  /// Makes find() also return entries that were short of memory, or were cut short after less than this many
  /// seconds. Builds that may not time anything accept them.
  void accept_incomplete(bool accept, double seconds) {
    accept_incomplete_ = accept;
    seconds_ = seconds;
  }
  /// True if an entry that was found comes from a disturbed machine.
  bool has_disturbed() const;
  /// Makes find() ignore such entries from now on, unless incomplete entries are accepted.
  void retake_disturbed() { retake_disturbed_ = true; }
  /// Returns null if there is no entry of this level or a higher one.
  const TimingEntry* find(const std::string& signature, int least_level) const;
  void set(const std::string& signature, TimingEntry entry);
  /// Adds the new entries to the file, together with those that other builds have added meanwhile. Entries
  /// that this build did not use are dropped if the file would exceed `most_bytes`.
  void save(uint64_t most_bytes = kMostBytes) const;
  const std::filesystem::path& file() const { return file_; }

 private:
  static constexpr uint64_t kMostBytes = 32u << 20;

  std::map<std::string, TimingEntry> read() const;
  void write(uint64_t most_bytes) const;
  std::string text_of(const std::map<std::string, TimingEntry>& entries, uint64_t most_bytes) const;

  std::filesystem::path file_;
  bool named_ = false;
  bool accept_incomplete_ = false;
  double seconds_ = 0;
  bool retake_disturbed_ = false;
  std::string fingerprint_;
  std::map<std::string, TimingEntry> entries_;
  mutable std::set<std::string> used_;
  std::set<std::string> changed_;
};

}  // namespace hone::engine
