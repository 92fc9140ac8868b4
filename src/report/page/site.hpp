// Answers for `hone view`: the page, the list of files in the folders, profiles and windows of timelines.
// Knows nothing of sockets. Traces are read one after the other in a thread of its own, so that no answer
// waits for a large one; requests name them by id, so no path of the disk can be asked for.
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
  /// `named`: files, and folders that are searched again and again.
  explicit Site(std::vector<std::string> named);
  ~Site() override;
  Site(const Site&) = delete;
  Site& operator=(const Site&) = delete;

  SiteResponse answer(const SiteRequest& request) override;
  std::string policy() const override;
  /// Looks through the folders now; else that is done when the list is asked for, every two seconds at most.
  void search();
  /// Waits until everything found has been read.
  void wait();

 private:
  struct Entry;
  /// A trace in memory, with the answers about it.
  struct Loaded;

  SiteResponse list(const std::string& known_tag);
  SiteResponse profile(const std::string& id);
  SiteResponse timeline(const std::string& id, const std::map<std::string, std::string>& parameters);
  /// With the lock held: a trace that was read; else null, and why.
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
  SiteResponse listed_;   ///< the list as it was last asked for
  uint64_t clock_ = 0;    ///< of uses of traces
  int64_t searched_ = 0;  ///< steady_clock, ns
  bool ending_ = false;
  std::thread loader_;
};

}  // namespace hone::report
