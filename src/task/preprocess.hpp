// Converts frames to a network's input: fitting, colour conversion and normalization.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "import/image/preprocess.hpp"
#include "media/frame.hpp"
#include "media/planar.hpp"
#include "task/decoder.hpp"
#include "task/frame_form.hpp"
#include "task/geometry.hpp"
#include "task/network.hpp"

namespace hone::task {

/// Options for the preprocessing. If one is absent, the metadata or the form decide.
struct PreprocessOptions {
  std::optional<Fit> fit;
  std::optional<bool> bgr;
  std::optional<float> scale;
  std::optional<float> padding;
  std::vector<float> mean;
  std::vector<float> std;
};

/// How one channel of the input is computed from levels.
struct ChannelRule {
  size_t colour = 0;              ///< 0 red, 1 green, 2 blue
  std::span<const float> levels;  ///< the values of the levels 0 to 255
  float margin = 0;               ///< the value outside of the image
};

/// The reason if no device can fill such an input from frames, else an empty refusal.
Refusal input_refusal(const ImageInput& input);
/// Describes the input of three channels for a device, without the rules of the channels.
engine::FrameTarget target_of(const ImageInput& input);

/// Combines the form, the model's metadata (image.scale, image.mean, image.std, see
/// import/image/preprocess.hpp) and the options, which win. May be used from any number of threads.
class Preprocessor {
 public:
  /// Usage error if options hold neither one number nor one for each channel; bad input if metadata do so.
  Preprocessor(const ImageInput& input, const InputForm& form, const importer::Metadata& metadata,
               const PreprocessOptions& options);

  Geometry place(int64_t image_width, int64_t image_height) const {
    return place_image(form_.fit, image_width, image_height, input_.width, input_.height);
  }
  /// Writes one image of a batch as float32, in the layout of the input.
  void fill(const media::Frame& frame, const Geometry& geometry, float* image) const;
  /// The rule of one channel of an input with three colours. It covers all of fill() except the geometry.
  ChannelRule rule_of(size_t channel) const;
  /// The target for a device that does the work of fill(); frame_refusal() says which frames it can take.
  engine::FrameTarget target() const;
  FrameForm form_of(const media::Frame& frame, const Geometry& geometry) const;
  /// "letterbox to 640 x 640, RGB, times 0.00392".
  std::string text() const;

 private:
  /// Writes the values of row y of the rectangle.
  void write_row(const uint8_t* levels, int64_t y, const Geometry& geometry, size_t channel,
                 float* image) const;
  void write_margins(const Geometry& geometry, float* image) const;
  float normalized(float level, size_t channel) const;

  ImageInput input_;
  InputForm form_;
  std::array<float, 3> mean_{};
  std::array<float, 3> std_{1, 1, 1};
  /// For each channel of the input, the values of the levels 0 to 255.
  std::array<std::array<float, 256>, 3> table_{};
};

}  // namespace hone::task
