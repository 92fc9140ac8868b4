// Frames to a network's input: fitted, in its colours, normalised.
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

/// Options for the input's preprocessing; an absent one is the form's, or the metadata's.
struct PreprocessOptions {
  std::optional<Fit> fit;
  std::optional<bool> bgr;
  std::optional<float> scale;
  std::optional<float> padding;
  std::vector<float> mean;
  std::vector<float> std;
};

/// How one channel of the input is made of levels.
struct ChannelRule {
  size_t colour = 0;              ///< 0 red, 1 green, 2 blue
  std::span<const float> levels;  ///< what 0 to 255 become
  float margin = 0;               ///< what stands where no image is
};

/// A reason where no device fills such an input from frames.
Refusal input_refusal(const ImageInput& input);
/// The input of three channels as a device needs it, without the channels' rules.
engine::FrameTarget target_of(const ImageInput& input);

/// The form with the model's metadata (image.scale, image.mean, image.std as import/image/preprocess.hpp has
/// them) and the flags over it. Used by any number of threads.
class Preprocessor {
 public:
  /// Usage error where flags have neither one number nor one a channel, bad input where metadata do.
  Preprocessor(const ImageInput& input, const InputForm& form, const importer::Metadata& metadata,
               const PreprocessOptions& options);

  Geometry place(int64_t image_width, int64_t image_height) const {
    return place_image(form_.fit, image_width, image_height, input_.width, input_.height);
  }
  /// Writes one image of a batch, float32 in the input's layout.
  void fill(const media::Frame& frame, const Geometry& geometry, float* image) const;
  /// The rule of a channel of an input of three colours: all of fill() that is not geometry.
  ChannelRule rule_of(size_t channel) const;
  /// The target for a device that does the work of fill(); frame_refusal() says of which frames.
  engine::FrameTarget target() const;
  FrameForm form_of(const media::Frame& frame, const Geometry& geometry) const;
  /// "letterbox to 640 x 640, RGB, times 0.00392".
  std::string text() const;

 private:
  /// The values of row y of the rectangle.
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
