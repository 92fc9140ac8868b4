// Shows pictures of a running pipeline on a page. The pipeline never waits for viewers: a slow viewer misses
// pictures, and nothing is encoded if there is no viewer.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "media/frame.hpp"
#include "report/page/site_content.hpp"

namespace hone::report {

/// Keeps at most one waiting frame and one encoded picture, for any number of viewers.
class LiveSite final : public SiteContent {
 public:
  /// Additional viewers are refused.
  static constexpr int kMostViewers = 16;

  /// `title` is the title of the page; it may contain any text. Environment error if the plugin that encodes
  /// pictures is missing.
  explicit LiveSite(std::string title);
  ~LiveSite() override;
  LiveSite(const LiveSite&) = delete;
  LiveSite& operator=(const LiveSite&) = delete;

  /// Replaces the previous frame, even if it was not shown. Never waits.
  void show(const media::Frame& frame);
  /// Ends the stream: viewers get the last picture, and then the end.
  void end();

  SiteResponse answer(const SiteRequest& request) override;
  std::string policy() const override;

 private:
  class Viewer;

  void encode();

  std::string title_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<media::Frame> waiting_;
  std::shared_ptr<const std::string> picture_;  ///< a JPEG file
  uint64_t number_ = 0;                         ///< number of the picture, from 1
  int viewers_ = 0;
  bool ending_ = false;
  bool ended_ = false;  ///< true if the last frame is also encoded
  std::thread encoder_;
};

}  // namespace hone::report
