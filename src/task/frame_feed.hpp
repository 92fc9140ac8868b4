// Frames of a batch to the network's device where it fills its input itself, else to the host; and the
// sentence that says where they were preprocessed.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "task/device_frames.hpp"

namespace hone::task {

/// upload() and text() are used by one thread at a time, run() by another one.
class FrameFeed {
 public:
  FrameFeed() = default;
  explicit FrameFeed(FrameBinding binding)
      : frames_(std::move(binding.frames)), refusal_(std::move(binding.refusal)) {}

  bool has_device() const { return frames_ != nullptr; }

  /// `make_form`: gives the form of a frame by its index. It is called once for frames of one size after each
  /// other. Nothing is returned where the host has to fill the input.
  template <class MakeForm>
  std::optional<DeviceFrames::Upload> upload(std::span<const media::Frame* const> frames,
                                             const MakeForm& make_form) {
    if (!takes(frames)) return std::nullopt;
    std::vector<FrameJob> jobs;
    for (size_t i = 0; i < frames.size(); ++i)
      jobs.push_back({frames[i], forms_.form_of(*frames[i], [&] { return make_form(i); })});
    return frames_->upload(jobs);
  }

  std::vector<tensor::Tensor> run(const DeviceFrames::Upload& upload) { return frames_->run(upload); }

  /// Part of a sentence: "on cuda", "on the CPU: frames are 4:2:2".
  std::string text() const;

 private:
  /// Counts the frames for the side that takes them.
  bool takes(std::span<const media::Frame* const> frames);

  std::unique_ptr<DeviceFrames> frames_;
  /// Why the host takes frames, the first reason of all.
  Refusal refusal_;
  FormCache forms_;
  size_t by_device_ = 0;
  size_t by_host_ = 0;
};

}  // namespace hone::task
