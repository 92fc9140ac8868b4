// A network with everything between frames and boxes: how its input is filled, and what its outputs mean.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "task/decoder.hpp"
#include "task/frame_feed.hpp"
#include "task/network.hpp"
#include "task/preprocess.hpp"

namespace hone::task {

struct DetectorOptions {
  NetworkOptions network;
  PreprocessOptions preprocess;
  std::string decoder;  ///< empty: the first that fits
  std::string labels;   ///< a file of names; empty: those of the metadata
  float threshold = 0.25f;
  FinishOptions finish;
  /// The host gets outputs and finds the boxes in them where it is not set.
  bool find_on_device = true;
};

/// upload(), fill() and decode() may each be called by a thread of its own, and so may run() for each stream.
class Detector {
 public:
  /// Loads the network and runs it once on grey, which shows its outputs. Errors of Network, choose_decoder()
  /// and Preprocessor; bad input for a file of labels that has not a name for each class.
  explicit Detector(const DetectorOptions& options);

  int64_t batch() const { return network_.input().batch; }
  /// Runs that may be under way at the same time.
  size_t streams() const { return network_.streams(); }
  const ImageInput& input() const { return network_.input(); }
  tensor::Tensor make_input() const;
  Geometry place(int64_t width, int64_t height) const { return preprocessor_->place(width, height); }
  void fill(const media::Frame& frame, const Geometry& geometry, int64_t row, tensor::Tensor* input) const;
  NetworkOutputs run(size_t stream, const tensor::Tensor& input, const std::vector<Geometry>& geometries);
  /// The frames, each with its geometry, on their way to the device that fills the stream's input; nothing
  /// where the host has to.
  std::optional<DeviceFrames::Upload> upload(size_t stream, std::span<const media::Frame* const> frames,
                                             std::span<const Geometry> geometries);
  NetworkOutputs run(size_t stream, const DeviceFrames::Upload& upload) { return feed_.run(stream, upload); }
  /// The way in which the frames so far became the input.
  std::string preprocessing() const { return feed_.text(); }
  bool feeds_device() const { return feed_.has_device(); }
  /// The device for a source whose frames shall stay on the network's device; null where none can.
  std::shared_ptr<media::DecodingDevice> decoding_device() const { return feed_.decoding_device(); }
  /// A frame of the host's with the content of one of that source. May be called by any thread.
  media::Frame on_host(const media::Frame& frame) const {
    return frame.on_device ? feed_.on_host(frame) : frame;
  }
  /// Why the host finds the boxes; nothing where the device does.
  const Refusal& finding_refusal() const { return finding_refusal_; }
  /// Copies between the host and the network's device for frames so far.
  AllTraffic traffic() const;
  /// Boxes in pixels of the image, by falling score.
  std::vector<Detection> decode(const NetworkOutputs& outputs, int64_t row, const Geometry& geometry) const;

  const std::vector<std::string>& names() const { return names_; }
  /// Assumptions, and other notes for readers of the results.
  std::vector<std::string> notes() const;

 private:
  Signature signature_of(std::span<const tensor::Tensor> outputs) const;
  void choose();
  Refusal find_on_device();

  DetectorOptions options_;
  Network network_;
  Signature signature_;
  DecoderChoice choice_;
  std::vector<std::string> names_;
  std::unique_ptr<Preprocessor> preprocessor_;
  FrameFeed feed_;
  Refusal finding_refusal_;
  std::unique_ptr<TransferCounts> host_transfers_ =
      std::make_unique<TransferCounts>();  ///< where the host fills
};

}  // namespace hone::task
