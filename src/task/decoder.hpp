// From a network's outputs to boxes: a table of the forms that detectors are exported in. Each row knows its
// form by names, shapes and metadata, and says what had to be assumed.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "import/model.hpp"
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
  /// The largest of the first four numbers of any row, in one run; 0 where there are none.
  float largest_coordinate = 0;
};

/// The features by which a form is recognized. Shapes and coordinates are those of one run.
struct Signature {
  int64_t input_width = 0;
  int64_t input_height = 0;
  std::vector<std::string> inputs;
  std::vector<OutputInfo> outputs;
  importer::Metadata metadata;
  /// The number of classes, from names in the metadata or a file of labels; 0 where nothing states it.
  int64_t classes = 0;
};

/// How a network of this form was trained to see images; flags and metadata override it.
struct InputForm {
  Fit fit = Fit::kLetterbox;
  float padding = 114;  ///< level of pixels that no image covers
  bool bgr = false;
  float scale = 1.0f / 255;
  bool imagenet = false;  ///< ImageNet's mean and standard deviation
  bool antialias = false;
};

/// An output as a decoder reads it.
struct Role {
  size_t output = 0;  ///< its index
  /// The least size of one image's part: one entry for each dimension, this size or larger. Empty: any form.
  tensor::Shape least = {};
};

/// A form that fits, with the data for decoding.
struct Match {
  /// Roles in the order that the row's decode() wants.
  std::vector<Role> roles;
  int64_t classes = 0;
  std::string assumed;  ///< a clause; empty where nothing was
  /// The fit where the model states one.
  std::optional<Fit> fit = {};
};

enum class Space {
  kInputPixels,
  kInputShare,   ///< 0..1 of the input's sides
  kImagePixels,  ///< the network was told the image's size
  kImageShare    ///< 0..1 of the image's sides, however it was fitted
};

/// Everything that is known before a network has run.
struct DecodeForm {
  const Match& match;
  const Signature& signature;
  float threshold = 0.25f;
};

struct DecodeCall : DecodeForm {
  std::span<const tensor::Tensor> outputs;
  int64_t row = 0;  ///< of the batch
};

struct Decoder {
  std::string_view name;
  std::string_view form;  ///< for people
  InputForm input;
  Space space = Space::kInputPixels;
  bool needs_nms = false;
  /// Null where the form cannot be this; `forced`: the user says that it is, so what is likely counts.
  std::optional<Match> (*match)(const Signature& signature, bool forced);
  /// Appends what has a score above the threshold; one class, the likeliest, for each box. Null where
  /// `head_rule` says how boxes are read.
  void (*decode)(const DecodeCall& call, std::vector<Detection>* found);
  /// Sets what NMS compares with its threshold; null: the IoU.
  void (*overlap)(const Signature& signature, engine::BoxSelection* selection) = nullptr;
  /// True if boxes end where the image does.
  bool clips = true;
  /// How the boxes of a role are read from an image's part of this shape; null where `decode` does it.
  HeadRule (*head_rule)(const DecodeForm& form, size_t role, const tensor::Shape& part) = nullptr;
};

/// The shape of one image's part of a role's output.
tensor::Shape part_of(const Role& role, tensor::Shape output);

/// Decoders in the order in which they are asked.
std::span<const Decoder> decoders();

struct DecoderChoice {
  const Decoder* decoder = nullptr;
  Match match;
};

/// The first that fits, or the one of this name. Bad input that names the outputs where none does, or where
/// one is not as the form needs it; usage error for a name that nobody has, or whose form the outputs cannot
/// be.
DecoderChoice choose_decoder(const Signature& signature, std::string_view name);

struct FinishOptions {
  float overlap = 0.45f;
  int64_t most = 300;
};

/// Non-maximum suppression of a decoder's boxes.
engine::BoxSelection selection_of(const Decoder& decoder, const Signature& signature,
                                  const FinishOptions& options);
/// From the coordinates of a decoder's boxes to pixels of the image.
engine::BoxPlace place_of(const Decoder& decoder, const Geometry& geometry);

/// Decodes one image of a batch: boxes in pixels of the image, inside it, by falling score. Bad input where
/// the outputs of this run have not the form that was chosen.
std::vector<Detection> decode_image(const DecoderChoice& choice, const DecodeCall& call,
                                    const Geometry& geometry, const FinishOptions& options);

}  // namespace hone::task
