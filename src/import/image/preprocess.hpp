// Converts an image to a model's input: resize, crop, scale, normalize, as in the presets of torchvision.
#pragma once

#include <array>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "import/image/image.hpp"
#include "tensor/tensor.hpp"

namespace hone::importer {

enum class Layout { kNchw, kNhwc };

/// A model can specify these values in its metadata (metadata_props of an ONNX file): image.resize,
/// image.crop, image.scale (one number each), image.mean, image.std (one number, or one per channel,
/// separated by commas).
struct Preprocessing {
  int64_t resize = 0;          ///< length of the shorter side; 0: unchanged
  int64_t crop = 0;            ///< side of the square that is cut from the middle; 0: no crop
  float scale = 1.0f / 255;    ///< factor on the pixels 0..255, before mean and std
  std::vector<float> mean{0};  ///< subtracted; one for all channels, or one per channel
  std::vector<float> std{1};   ///< divisor
  bool as_is = false;          ///< resize and crop were set to 0 explicitly: images keep their size
  /// The kind of error if a value does not fit the images: a usage error if it came from an option, bad input
  /// if it came from the model.
  struct {
    ErrorKind crop = ErrorKind::kBadInput;
    ErrorKind mean = ErrorKind::kBadInput;
    ErrorKind std = ErrorKind::kBadInput;
  } fault;
};

/// Throws bad input that names the key if a number cannot be read, or is an invalid divisor.
Preprocessing preprocessing_from(const std::map<std::string, std::string>& metadata);

/// Parses a list such as "0.485,0.456,0.406", also with blanks instead of commas; for anything else, throws a
/// usage error that names `what`.
std::vector<float> parse_floats(const std::string& text, const std::string& what);

/// Reads numbers that are valid divisors: neither 0 nor so small that they lose digits as floats.
std::vector<float> parse_divisors(const std::string& text, const std::string& what);

/// The size that an image is resized to, and the part of it that is kept.
struct ImageCut {
  int64_t width = 0;
  int64_t height = 0;
  int64_t left = 0;
  int64_t top = 0;
  int64_t part_width = 0;
  int64_t part_height = 0;
};
/// The cut for an image of this size; an error of the kind in `fault` if the
/// image is smaller than the crop.
ImageCut cut_of(const Preprocessing& preprocessing, int64_t width, int64_t height);

/// The values of the levels 0 to 255 in one channel of `channels`; an error of the
/// kind in `fault` if mean or std have neither one nor `channels` numbers.
std::array<float, 256> level_values(const Preprocessing& preprocessing, int64_t channel, int64_t channels);

/// Resizes with an antialiased bilinear filter and rounds to 8 bits after each
/// direction, like Pillow's Image.resize(BILINEAR), which torchvision uses.
Image resize_image(const Image& image, int64_t width, int64_t height);

/// Images of one size as float32 [N, C, H, W] or [N, H, W, C]. Throws bad input if
/// sizes differ; an error of the kind in `fault` if an image is smaller than
/// the crop, or if mean or std have neither one nor C numbers.
tensor::Tensor images_to_tensor(std::span<const Image> images, const Preprocessing& preprocessing,
                                Layout layout);

}  // namespace hone::importer
