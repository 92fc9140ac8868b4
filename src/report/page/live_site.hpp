// Pictures of something that runs, shown while it runs: a page with the newest one. Who runs never waits for
// who looks: a viewer that is slow misses pictures, and nothing is encoded while nobody looks.
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

/// At most one frame that waits and one encoded picture are kept, however many look.
class LiveSite final : public SiteContent {
 public:
  /// More viewers at the same time are refused.
  static constexpr int kMostViewers = 16;

  /// `title`: of the page, in any text. Environment error without the plugin that encodes pictures.
  explicit LiveSite(std::string title);
  ~LiveSite() override;
  LiveSite(const LiveSite&) = delete;
  LiveSite& operator=(const LiveSite&) = delete;

  /// Takes the place of the frame before, shown or not. Never waits.
  void show(const media::Frame& frame);
  /// Nothing comes any more: viewers get the last picture, and then the end.
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
  uint64_t number_ = 0;                         ///< of the picture, from 1
  int viewers_ = 0;
  bool ending_ = false;
  bool ended_ = false;  ///< and the last frame is encoded
  std::thread encoder_;
};

}  // namespace hone::report
