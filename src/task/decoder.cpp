// See decoder.hpp: the list of decoders, and the checks that all of them share.
#include "task/decoder.hpp"

#include <array>

#include "base/error.hpp"
#include "task/decoders/rows.hpp"

namespace hone::task {
namespace {

std::string outputs_text(const Signature& signature) {
  std::string text;
  for (const OutputInfo& output : signature.outputs)
    text += fmt::format("{}{} [{}]", text.empty() ? "" : ", ", output.name, tensor::shape_text(output.shape));
  return text;
}

std::string names_text() {
  std::string text;
  for (const Decoder& decoder : decoders())
    text += fmt::format("{}{}", text.empty() ? "" : ", ", decoder.name);
  return text;
}

/// True if an output has at least the sizes that the role needs, with or without a batch dimension.
bool has_form(const tensor::Shape& shape, const tensor::Shape& least) {
  if (least.empty()) return true;
  if (shape.size() != least.size() && shape.size() != least.size() + 1) return false;
  const size_t before = shape.size() - least.size();
  for (size_t i = 0; i < least.size(); ++i)
    if (shape[before + i] < least[i]) return false;
  return true;
}

/// Formats a least shape as text; "n x 4" is any number of rows of four numbers.
std::string least_text(const tensor::Shape& least) {
  std::string text;
  for (const int64_t side : least)
    text += fmt::format("{}{}", text.empty() ? "" : " x ", side == 0 ? "n" : std::to_string(side));
  return text;
}

/// Checks the shapes of outputs, because some forms are recognized only by names, and such outputs may have
/// any shape. `shape_of(i)` returns the shape of output i.
template <class ShapeOf>
void check_form(const DecoderChoice& choice, const Signature& signature, const ShapeOf& shape_of) {
  for (const Role& role : choice.match.roles) {
    const tensor::Shape& shape = shape_of(role.output);
    if (has_form(shape, role.least)) continue;
    fail_bad_input("the output {} [{}] is none of {} ({}), which needs {} numbers of an image at least",
                   signature.outputs[role.output].name, tensor::shape_text(shape), choice.decoder->name,
                   choice.decoder->form, least_text(role.least));
  }
}

}  // namespace

tensor::Shape part_of(const Role& role, tensor::Shape output) {
  if (output.size() == role.least.size() + 1) output.erase(output.begin());
  return output;
}

std::span<const Decoder> decoders() {
  // Forms that are recognized by names come before forms that are recognized only by shapes.
  static const std::array kDecoders{kDarknet,    kDarknetGrid, kTensorflow,  kEfficientNms, kRtdetrOriginal,
                                    kBoxesConfs, kSsd,         kTorchvision, kDetr,         kRtdetrLogits,
                                    kYolov7Raw,  kYolov8,      kYolov5,      kYolox,        kYolov7Nms,
                                    kEndToEnd,   kRtdetr};
  return kDecoders;
}

DecoderChoice choose_decoder(const Signature& signature, std::string_view name) {
  for (const Decoder& decoder : decoders()) {
    if (!name.empty() && decoder.name != name) continue;
    const auto match = decoder.match(signature, !name.empty());
    if (match) {
      const DecoderChoice choice{&decoder, *match};
      check_form(choice, signature,
                 [&](size_t i) -> const tensor::Shape& { return signature.outputs[i].shape; });
      return choice;
    }
    if (!name.empty())
      fail_usage("the outputs {} are not of the form of --decoder {} ({})", outputs_text(signature), name,
                 decoder.form);
  }
  if (!name.empty()) fail_usage("there is no decoder {}: {}", name, names_text());
  const auto is_row = [](const tensor::Shape& shape) { return shape.size() == 2 && shape.front() == 1; };
  if (signature.outputs.size() == 1 && is_row(signature.outputs[0].shape))
    fail_bad_input("its output {} holds no boxes: such a row of scores is for hone classify",
                   outputs_text(signature));
  fail_bad_input("no decoder knows its outputs {} for an input of {} x {} (--decoder {} decides)",
                 outputs_text(signature), signature.input_width, signature.input_height, names_text());
}

engine::BoxSelection selection_of(const Decoder& decoder, const Signature& signature,
                                  const FinishOptions& options) {
  engine::BoxSelection selection{.overlap = options.overlap, .most = options.most, .clips = decoder.clips};
  if (decoder.overlap != nullptr) decoder.overlap(signature, &selection);
  return selection;
}

engine::BoxPlace place_of(const Decoder& decoder, const Geometry& g) {
  engine::BoxPlace place;
  if (decoder.space == Space::kInputPixels || decoder.space == Space::kInputShare) place = box_place(g);
  place.image_width = static_cast<float>(g.image_width);
  place.image_height = static_cast<float>(g.image_height);
  if (decoder.space == Space::kInputShare) {
    place.x_factor = static_cast<float>(g.input_width);
    place.y_factor = static_cast<float>(g.input_height);
  } else if (decoder.space == Space::kImageShare) {
    place.x_factor = place.image_width;
    place.y_factor = place.image_height;
  }
  return place;
}

std::vector<Detection> decode_image(const DecoderChoice& choice, const DecodeCall& call,
                                    const Geometry& geometry, const FinishOptions& options) {
  const Decoder& decoder = *choice.decoder;
  std::vector<Detection> found;
  check_form(choice, call.signature,
             [&](size_t i) -> const tensor::Shape& { return call.outputs[i].shape(); });
  if (decoder.head_rule != nullptr) {
    decode_heads(decoder, call, &found);
  } else {
    decoder.decode(call, &found);
  }
  const engine::BoxPlace place = place_of(decoder, geometry);
  const engine::BoxSelection selection = selection_of(decoder, call.signature, options);
  for (Detection& detection : found) detection.box = engine::box::placed(place, detection.box);
  if (decoder.needs_nms) {
    suppress(selection, place, &found);
  } else {
    sort_by_score(&found);
  }
  if (static_cast<int64_t>(found.size()) > selection.most) found.resize(static_cast<size_t>(selection.most));
  if (selection.clips)
    for (Detection& detection : found) detection.box = engine::box::clipped(place, detection.box);
  return found;
}

}  // namespace hone::task
