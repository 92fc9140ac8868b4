// See frame_feed.hpp.
#include "task/frame_feed.hpp"

#include <fmt/core.h>

namespace hone::task {

FrameFeed::FrameFeed(std::vector<FrameBinding> bindings) {
  for (FrameBinding& binding : bindings) {
    if (binding.frames == nullptr) {
      refusal_ = std::move(binding.refusal);
      frames_.clear();
      return;
    }
    frames_.push_back(std::move(binding.frames));
  }
}

Refusal FrameFeed::find_boxes(const BoxPlan& plan) {
  if (!has_device()) return "the host fills the input";
  for (const auto& frames : frames_)
    if (Refusal refusal = frames->find_boxes(plan)) return refusal;
  finds_ = true;
  return {};
}

bool FrameFeed::takes(std::span<const media::Frame* const> frames) {
  Refusal refusal;
  for (const media::Frame* frame : frames)
    if (!refusal) refusal = frame_refusal(*frame);
  const bool taken = has_device() && !refusal;
  (taken ? by_device_ : by_host_) += frames.size();
  if (!taken && !refusal_) refusal_ = std::move(refusal);
  return taken;
}

std::string FrameFeed::text() const {
  const std::string why = refusal_ ? ": " + refusal_.text() : "";
  if (by_device_ == 0) return "on the CPU" + why;
  if (by_host_ == 0) return fmt::format("on {}", frames_.front()->device().name());
  return fmt::format("on {}, but {} of {} on the CPU{}", frames_.front()->device().name(), by_host_,
                     by_device_ + by_host_, why);
}

}  // namespace hone::task
