// Frames of a batch to the network's device where it fills its input itself, else to the host; and the
// sentence that says where they were preprocessed.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "task/device_frames.hpp"

namespace hone::task {

/// upload() and text() are used by one thread at a time, run() by another one for each stream.
class FrameFeed {
 public:
  FrameFeed() = default;
  /// One for each stream of a network. The host fills the inputs where one of them is a refusal.
  explicit FrameFeed(std::vector<FrameBinding> bindings);
  /// Nothing but the host.
  explicit FrameFeed(Refusal refusal) : refusal_(std::move(refusal)) {}

  bool has_device() const { return !frames_.empty(); }

  /// On its way to the input of this stream. `make_form`: gives the form of a frame by its index. It is
  /// called once for frames of one size after each other. `places`: of each frame, where boxes are found.
  /// Nothing is returned where the host has to fill the input.
  template <class MakeForm>
  std::optional<DeviceFrames::Upload> upload(size_t stream, std::span<const media::Frame* const> frames,
                                             const MakeForm& make_form,
                                             std::span<const engine::BoxPlace> places = {}) {
    if (!takes(frames)) return std::nullopt;
    std::vector<FrameJob> jobs;
    for (size_t i = 0; i < frames.size(); ++i) {
      jobs.push_back({frames[i], forms_.form_of(*frames[i], [&] { return make_form(i); })});
      if (!places.empty()) jobs.back().place = places[i];
    }
    return frames_[stream]->upload(jobs);
  }

  /// Runs a batch that was uploaded for this stream.
  NetworkOutputs run(size_t stream, const DeviceFrames::Upload& upload) {
    if (finds_) return frames_[stream]->run_finding(upload);
    return {frames_[stream]->run(upload)};
  }
  /// The host gets boxes from the device by this plan, and no outputs; or why it gets these.
  Refusal find_boxes(const BoxPlan& plan);

  /// The network's device for a source whose frames shall stay there; null where none can.
  std::shared_ptr<media::DecodingDevice> decoding_device() const {
    return has_device() ? frames_.front()->decoding_device() : nullptr;
  }
  /// The content of a frame that such a source gave.
  media::Frame on_host(const media::Frame& frame) const { return frames_.front()->on_host(frame); }

  void add_traffic(AllTraffic* traffic) const {
    for (const auto& frames : frames_) task::add_traffic(frames->transfers(), traffic);
  }

  /// Part of a sentence: "on cuda", "on the CPU: frames are 4:2:2".
  std::string text() const;

 private:
  /// Counts the frames for the side that takes them.
  bool takes(std::span<const media::Frame* const> frames);

  std::vector<std::unique_ptr<DeviceFrames>> frames_;
  /// Why the host takes frames, the first reason of all.
  Refusal refusal_;
  bool finds_ = false;
  FormCache forms_;
  size_t by_device_ = 0;
  size_t by_host_ = 0;
};

}  // namespace hone::task
