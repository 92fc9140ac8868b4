// Decodes a network's outputs to boxes: a table of the output forms of exported detectors. Each row
// recognizes its form by names, shapes and metadata, and reports the assumptions that it made.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "import/model.hpp"
#include "media/planar.hpp"
#include "task/detection.hpp"
#include "task/geometry.hpp"
#include "task/head_rule.hpp"
#include "task/nms.hpp"
#include "tensor/tensor.hpp"

namespace hone::task {

struct OutputInfo {
  std::string name;
  tensor::DType dtype = tensor::DType::kUndefined;
  tensor::Shape shape;
  /// In one run, the largest of the first four numbers of all rows; 0 if there are none.
  float largest_coordinate = 0;
};

/// The features by which a form is recognized. Shapes and coordinates come from one run.
struct Signature {
  int64_t input_width = 0;
  int64_t input_height = 0;
  std::vector<std::string> inputs;
  std::vector<OutputInfo> outputs;
  importer::Metadata metadata;
  /// The number of classes, from names in the metadata or a file of labels; 0 if it is unknown.
  int64_t classes = 0;
};

/// The preprocessing with which networks of this form were trained; options and metadata override it.
struct InputForm {
  Fit fit = Fit::kLetterbox;
  float padding = 114;  ///< level of pixels outside the image
  bool bgr = false;
  float scale = 1.0f / 255;
  bool imagenet = false;  ///< normalized with ImageNet's mean and standard deviation
  bool antialias = false;
  media::ResizeGrid grid = media::ResizeGrid::kHalfPixel;
};

/// An output that a decoder reads.
struct Role {
  size_t output = 0;  ///< index of the output
  /// The least size of one image's part in each dimension. Empty: any shape.
  tensor::Shape least = {};
};

/// A form that fits, with the data for decoding.
struct Match {
  /// Roles in the order that decode() of this row of the table expects.
  std::vector<Role> roles;
  int64_t classes = 0;
  std::string assumed;  ///< the assumptions as a clause; empty if there are none
  /// The fit, if the model states one.
  std::optional<Fit> fit = {};
  media::ResizeGrid grid = media::ResizeGrid::kHalfPixel;
};

enum class Space {
  kInputPixels,
  kInputShare,   ///< shares of the input's sides, 0..1
  kImagePixels,  ///< pixels of the image, whose size is an input of the network
  kImageShare    ///< shares of the image's sides, 0..1, however it was fitted
};

/// Everything that is known before the network runs.
struct DecodeForm {
  const Match& match;
  const Signature& signature;
  float threshold = 0.25f;
};

struct DecodeCall : DecodeForm {
  std::span<const tensor::Tensor> outputs;
  int64_t row = 0;  ///< row of the batch
};

struct Decoder {
  std::string_view name;
  std::string_view form;  ///< a description for people
  InputForm input;
  Space space = Space::kInputPixels;
  bool needs_nms = false;
  /// Returns nothing if the outputs cannot have this form. With `forced`, the user has chosen this form, so
  /// outputs that merely could have it are accepted.
  std::optional<Match> (*match)(const Signature& signature, bool forced);
  /// Appends boxes whose score is above the threshold, each with its most probable class only. Null if
  /// `head_rule` describes the boxes.
  void (*decode)(const DecodeCall& call, std::vector<Detection>* found);
  /// Sets the measure that NMS compares with its threshold; null: the IoU.
  void (*overlap)(const Signature& signature, engine::BoxSelection* selection) = nullptr;
  /// True if boxes are clipped to the image.
  bool clips = true;
  /// Describes how the boxes of a role are read from one image's part of this shape; null if `decode` reads
  /// them.
  HeadRule (*head_rule)(const DecodeForm& form, size_t role, const tensor::Shape& part) = nullptr;
};

/// Returns the shape of one image's part of a role's output.
tensor::Shape part_of(const Role& role, tensor::Shape output);

/// Returns the decoders in the order in which they are tried.
std::span<const Decoder> decoders();

struct DecoderChoice {
  const Decoder* decoder = nullptr;
  Match match;
};

/// Returns the first decoder that fits, or the one of this name. Bad input that names the outputs if none
/// fits, or if an output does not meet the form's needs. Usage error for an unknown name, or for a form that
/// the outputs cannot have.
DecoderChoice choose_decoder(const Signature& signature, std::string_view name);

struct FinishOptions {
  float overlap = 0.45f;
  int64_t most = 300;
};

/// Returns the settings of non-maximum suppression for a decoder's boxes.
engine::BoxSelection selection_of(const Decoder& decoder, const Signature& signature,
                                  const FinishOptions& options);
/// Returns the mapping from the coordinates of a decoder's boxes to pixels of the image.
engine::BoxPlace place_of(const Decoder& decoder, const Geometry& geometry);

/// Decodes one image of a batch. Boxes are in pixels of the image, clipped to it, and sorted by falling
/// score. Bad input if the outputs of this run do not have the chosen form.
std::vector<Detection> decode_image(const DecoderChoice& choice, const DecodeCall& call,
                                    const Geometry& geometry, const FinishOptions& options);

}  // namespace hone::task
