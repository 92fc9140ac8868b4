// A detector network with its preprocessing and its decoder.
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
  std::string decoder;  ///< empty: the first decoder that fits
  std::string labels;   ///< a file of names; empty: the names in the metadata
  float threshold = 0.25f;
  FinishOptions finish;
  /// If false, the outputs are copied to the host, which finds the boxes in them.
  bool find_on_device = true;
};

/// upload(), fill(), decode(), and run() of each stream may each be called from a different thread.
class Detector {
 public:
  /// Loads the network and runs it once on a grey image to learn the shapes of its outputs. Throws the errors
  /// of Network, choose_decoder() and Preprocessor; bad input for a file of labels whose number differs from
  /// that of the classes.
  explicit Detector(const DetectorOptions& options);

  int64_t batch() const { return network_.input().batch; }
  /// Number of runs that may be in progress at the same time.
  size_t streams() const { return network_.streams(); }
  const ImageInput& input() const { return network_.input(); }
  tensor::Tensor make_input() const;
  Geometry place(int64_t width, int64_t height) const { return preprocessor_->place(width, height); }
  void fill(const media::Frame& frame, const Geometry& geometry, int64_t row, tensor::Tensor* input) const;
  NetworkOutputs run(size_t stream, const tensor::Tensor& input, const std::vector<Geometry>& geometries);
  /// Starts copying the frames, each with its geometry, to the device that fills the stream's input. Returns
  /// nothing if the host must fill the input.
  std::optional<DeviceFrames::Upload> upload(size_t stream, std::span<const media::Frame* const> frames,
                                             std::span<const Geometry> geometries);
  NetworkOutputs run(size_t stream, const DeviceFrames::Upload& upload) { return feed_.run(stream, upload); }
  /// Describes how the frames so far were preprocessed.
  std::string preprocessing() const { return feed_.text(); }
  bool feeds_device() const { return feed_.has_device(); }
  /// The device for a source whose frames shall stay on the network's device; null if it cannot decode.
  std::shared_ptr<media::DecodingDevice> decoding_device() const { return feed_.decoding_device(); }
  /// Returns a copy in host memory of a frame that such a source gave. May be called from any thread.
  media::Frame on_host(const media::Frame& frame) const {
    return frame.on_device ? feed_.on_host(frame) : frame;
  }
  /// The reason why the host finds the boxes; empty if the device does.
  const Refusal& finding_refusal() const { return finding_refusal_; }
  /// Copies between the host and the network's device for the frames so far.
  AllTraffic traffic() const;
  /// Returns boxes in pixels of the image, sorted by falling score.
  std::vector<Detection> decode(const NetworkOutputs& outputs, int64_t row, const Geometry& geometry) const;

  const std::vector<std::string>& names() const { return names_; }
  /// Assumptions, and other notes for readers of the results.
  std::vector<std::string> notes() const;

 private:
  Signature signature_of(std::span<const tensor::Tensor> outputs) const;
  void choose();
  Refusal find_on_device();
  /// As decode(), with the boxes that have no area.
  std::vector<Detection> decode_all(const NetworkOutputs& outputs, int64_t row,
                                    const Geometry& geometry) const;

  DetectorOptions options_;
  Network network_;
  Signature signature_;
  std::string nan_note_;
  DecoderChoice choice_;
  std::vector<std::string> names_;
  std::unique_ptr<Preprocessor> preprocessor_;
  FrameFeed feed_;
  Refusal finding_refusal_;
  std::unique_ptr<TransferCounts> host_transfers_ =
      std::make_unique<TransferCounts>();  ///< used when the host fills the input
};

}  // namespace hone::task
