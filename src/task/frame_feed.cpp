// See frame_feed.hpp.
#include "task/frame_feed.hpp"

#include <fmt/core.h>

namespace hone::task {

bool FrameFeed::takes(std::span<const media::Frame* const> frames) {
  Refusal refusal;
  for (const media::Frame* frame : frames)
    if (!refusal) refusal = frame_refusal(*frame);
  const bool taken = frames_ != nullptr && !refusal;
  (taken ? by_device_ : by_host_) += frames.size();
  if (!taken && !refusal_) refusal_ = std::move(refusal);
  return taken;
}

std::string FrameFeed::text() const {
  const std::string why = refusal_ ? ": " + refusal_.text() : "";
  if (by_device_ == 0) return "on the CPU" + why;
  if (by_host_ == 0) return fmt::format("on {}", frames_->device().name());
  return fmt::format("on {}, but {} of {} on the CPU{}", frames_->device().name(), by_host_,
                     by_device_ + by_host_, why);
}

}  // namespace hone::task
