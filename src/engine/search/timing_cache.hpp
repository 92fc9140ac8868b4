// Results of tactic searches on disk, so that building the same step again times nothing.
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
  /// Candidate and its median, lower quartile (microseconds) and sample count.
  struct Time {
    double median_us = 0;
    double lower_quartile_us = 0;
    int samples = 0;
  };
  std::string chosen;
  std::map<std::string, Time> times;
  /// "tactic: reason".
  std::vector<std::string> refusals;
  /// Optimization level of the search: a higher one looks closer.
  int level = 0;
  /// A candidate that lost for want of memory may win another time.
  bool short_of_memory = false;
  /// Seconds of the search that had no time for everything; 0: it had.
  double cut_short_after = 0;
  /// Other work disturbed the machine meanwhile.
  bool disturbed = false;
};

/// Bad input when the file of a timing cache is something else than a regular file or, where it must be
/// there, is not.
void check_cache_file(const std::filesystem::path& file, bool must_exist);

/// One JSON file per device fingerprint and thread count.
class TimingCache {
 public:
  /// Opens the cache in a folder, or one that forgets if that is empty. A file that cannot be read counts as
  /// empty, and one that cannot be written is passed over: a cache that nobody named is never the reason a
  /// build fails.
  TimingCache(const std::filesystem::path& folder, const std::string& fingerprint, int threads);
  /// Opens the cache in a named file, or in one that will be written: bad input when it holds anything else
  /// than times of this version, device and thread count; environment error from save() when it cannot be
  /// written.
  static TimingCache of_file(const std::filesystem::path& file, const std::string& fingerprint, int threads);

  /// Lets find() also return entries that were short of memory, or cut short after less than these seconds.
  /// Builds that may time nothing take it.
  void accept_incomplete(bool accept, double seconds) {
    accept_incomplete_ = accept;
    seconds_ = seconds;
  }
  /// True if anything was found on a disturbed machine.
  bool has_disturbed() const;
  /// From now on find() gives nothing of that, unless what is incomplete is accepted.
  void retake_disturbed() { retake_disturbed_ = true; }
  /// Null when nothing was found at that level or a higher one.
  const TimingEntry* find(const std::string& signature, int least_level) const;
  void set(const std::string& signature, TimingEntry entry);
  /// Adds the new entries to the file, next to those that other builds have added meanwhile. Entries that
  /// this build did not use are left out beyond `most_bytes`.
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
