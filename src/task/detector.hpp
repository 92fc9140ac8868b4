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
};

/// upload(), fill() and decode() may each be called by a thread of its own, and so may run().
class Detector {
 public:
  /// Loads the network and runs it once on grey, which shows its outputs. Errors of Network, choose_decoder()
  /// and Preprocessor; bad input for a file of labels that has not a name for each class.
  explicit Detector(const DetectorOptions& options);

  int64_t batch() const { return network_.input().batch; }
  const ImageInput& input() const { return network_.input(); }
  tensor::Tensor make_input() const;
  Geometry place(int64_t width, int64_t height) const { return preprocessor_->place(width, height); }
  void fill(const media::Frame& frame, const Geometry& geometry, int64_t row, tensor::Tensor* input) const;
  std::vector<tensor::Tensor> run(const tensor::Tensor& input, const std::vector<Geometry>& geometries);
  /// The frames, each with its geometry, on their way to the device that fills the input; nothing where the
  /// host has to.
  std::optional<DeviceFrames::Upload> upload(std::span<const media::Frame* const> frames,
                                             std::span<const Geometry> geometries);
  std::vector<tensor::Tensor> run(const DeviceFrames::Upload& upload) { return feed_.run(upload); }
  /// Where the frames so far became the input.
  std::string preprocessing() const { return feed_.text(); }
  bool feeds_device() const { return feed_.has_device(); }
  /// Boxes in pixels of the image, by falling score.
  std::vector<Detection> decode(std::span<const tensor::Tensor> outputs, int64_t row,
                                const Geometry& geometry) const;

  const std::vector<std::string>& names() const { return names_; }
  /// What was assumed, and what a reader of the results must know.
  std::vector<std::string> notes() const;

 private:
  Signature signature_of(std::span<const tensor::Tensor> outputs) const;
  void choose();

  DetectorOptions options_;
  Network network_;
  Signature signature_;
  DecoderChoice choice_;
  std::vector<std::string> names_;
  std::unique_ptr<Preprocessor> preprocessor_;
  FrameFeed feed_;
};

}  // namespace hone::task
