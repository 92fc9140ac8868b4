// Decides whether the network's device or the host preprocesses the frames of a batch, and describes that in
// a clause.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "task/device_frames.hpp"

namespace hone::task {

/// upload() and text() are called from one thread at a time; run() from one other thread for each stream.
class FrameFeed {
 public:
  FrameFeed() = default;
  /// One binding for each stream of a network. If one of them is a refusal, the host fills the inputs.
  explicit FrameFeed(std::vector<FrameBinding> bindings);
  /// The host fills all inputs.
  explicit FrameFeed(Refusal refusal) : refusal_(std::move(refusal)) {}

  bool has_device() const { return !frames_.empty(); }

  /// Starts copying frames to the input of this stream. `make_form` returns the form of a frame by its index;
  /// it is called once for consecutive frames of equal size. `places` maps the boxes of each frame if the
  /// device finds boxes. Returns nothing if the host must fill the input.
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
  /// Makes the device find boxes by this plan, so that the host gets boxes instead of outputs. Returns the
  /// reason if it cannot.
  Refusal find_boxes(const BoxPlan& plan);

  /// The network's device for a source whose frames shall stay there; null if it cannot decode.
  std::shared_ptr<media::DecodingDevice> decoding_device() const {
    return has_device() ? frames_.front()->decoding_device() : nullptr;
  }
  /// Returns a copy in host memory of a frame that such a source gave.
  media::Frame on_host(const media::Frame& frame) const { return frames_.front()->on_host(frame); }

  void add_traffic(AllTraffic* traffic) const {
    for (const auto& frames : frames_) task::add_traffic(frames->transfers(), traffic);
  }

  /// A clause: "on cuda", "on the CPU: frames are 4:2:2".
  std::string text() const;

 private:
  /// Returns whether the device takes these frames, and counts them for the device or for the host.
  bool takes(std::span<const media::Frame* const> frames);

  std::vector<std::unique_ptr<DeviceFrames>> frames_;
  /// The first reason why the host takes frames.
  Refusal refusal_;
  bool finds_ = false;
  FormCache forms_;
  size_t by_device_ = 0;
  size_t by_host_ = 0;
};

}  // namespace hone::task
