// The content of `hone view`: the page, the list of files in the folders, profiles, and windows of timelines.
// It does not use sockets. One thread reads traces one after the other, so no answer waits for a large trace.
// Requests refer to traces by id, so they cannot name arbitrary paths.
#pragma once

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <thread>

#include "report/page/document.hpp"
#include "report/page/site_content.hpp"

namespace hone::report {

class Site final : public SiteContent {
 public:
  /// `named` holds files, and folders that are searched repeatedly.
  explicit Site(std::vector<std::string> named);
  ~Site() override;
  Site(const Site&) = delete;
  Site& operator=(const Site&) = delete;

  SiteResponse answer(const SiteRequest& request) override;
  std::string policy() const override;
  /// Searches the folders now. Otherwise, requests for the list cause a search, at most every two seconds.
  void search();
  /// Waits until all files that were found have been read.
  void wait();

 private:
  struct Entry;
  /// A trace in memory with its answers.
  struct Loaded;

  SiteResponse list(const std::string& known_tag);
  SiteResponse profile(const std::string& id);
  SiteResponse timeline(const std::string& id, const std::map<std::string, std::string>& parameters);
  /// Returns a trace that was read, or null and the refusal. The caller must hold the lock.
  Entry* trace_of(const std::string& id, SiteResponse* refusal);
  Report current();
  void load_in_turn();
  void load(Entry* entry);
  void forget_old_traces();
  std::shared_ptr<Entry> next();

  std::vector<std::string> named_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::shared_ptr<Entry>> entries_;
  std::vector<std::string> sentences_;
  Ids ids_;
  uint64_t version_ = 0;  ///< of the list
  SiteResponse listed_;   ///< the list that was sent last
  uint64_t clock_ = 0;    ///< counts uses of traces
  int64_t searched_ = 0;  ///< steady_clock, ns
  bool ending_ = false;
  std::thread loader_;
};

}  // namespace hone::report
