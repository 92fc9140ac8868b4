// See detector.hpp.
#include "task/detector.hpp"

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "task/names.hpp"

namespace hone::task {
namespace {

/// This number distinguishes boxes in pixels from boxes in shares of the image.
float largest_coordinate(const tensor::Tensor& numbers) {
  constexpr int64_t kBoxNumbers = 4;
  if (!tensor::is_floating(numbers.dtype()) || numbers.rank() < 2 || numbers.shape().back() < kBoxNumbers)
    return 0;
  const tensor::Tensor output =
      numbers.dtype() == tensor::DType::kFloat32 ? numbers : numbers.cast(tensor::DType::kFloat32);
  const auto width = static_cast<size_t>(output.shape().back());
  const auto values = output.values<float>();
  float largest = 0;
  for (size_t i = 0; i < values.size(); ++i)
    if (i % width < kBoxNumbers && std::isfinite(values[i])) largest = std::max(largest, std::abs(values[i]));
  return largest;
}

/// A sentence about the NaN in the outputs; empty if there are none.
std::string nan_note(std::span<const tensor::Tensor> outputs) {
  int64_t bad = 0;
  int64_t all = 0;
  for (const tensor::Tensor& output : outputs) {
    if (!tensor::is_floating(output.dtype())) continue;
    const std::vector<double> values = output.to_double();
    bad += std::count_if(values.begin(), values.end(), [](double value) { return std::isnan(value); });
    all += static_cast<int64_t>(values.size());
  }
  if (bad == 0) return "";
  return fmt::format(
      "{} of the {} numbers that the network gives for a grey image are NaN, which give no detections: its "
      "weights may be damaged, or its values too large for the precision (--precision fp32)",
      bad, all);
}

/// Returns nothing if no form fits.
std::optional<DecoderChoice> other_choice(const Signature& signature, std::string_view name) {
  try {
    return choose_decoder(signature, name);
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace

Detector::Detector(const DetectorOptions& options) : options_(options), network_(options.network) {
  tensor::Tensor grey = make_input();
  const auto values = grey.mutable_values<float>();
  std::fill(values.begin(), values.end(), 0.5f);
  const ImageInput& input = network_.input();
  const std::vector<Network::Size> sizes(static_cast<size_t>(input.batch), {input.width, input.height});
  const NetworkOutputs outputs{network_.run(grey, sizes)};
  nan_note_ = nan_note(outputs.tensors);
  signature_ = signature_of(outputs.tensors);
  choose();
  // Decode once, so that a model that no decoder fits is refused before the input is read.
  for (int64_t row = 0; row < input.batch; ++row)
    decode(outputs, row, place_image(Fit::kStretch, input.width, input.height, input.width, input.height));
  InputForm form = choice_.decoder->input;
  form.fit = choice_.match.fit.value_or(form.fit);
  form.grid = choice_.match.grid;
  preprocessor_ = std::make_unique<Preprocessor>(input, form, network_.model().metadata, options.preprocess);
  Refusal refusal = input_refusal(input);
  feed_ = refusal ? FrameFeed(std::move(refusal)) : FrameFeed(network_.bind_frames(preprocessor_->target()));
  finding_refusal_ = find_on_device();
}

Signature Detector::signature_of(std::span<const tensor::Tensor> outputs) const {
  Signature signature;
  signature.input_width = network_.input().width;
  signature.input_height = network_.input().height;
  signature.inputs = network_.input_names();
  signature.metadata = network_.model().metadata;
  const auto names = network_.output_names();
  for (size_t i = 0; i < outputs.size(); ++i)
    signature.outputs.push_back(
        {names[i], outputs[i].dtype(), outputs[i].shape(), largest_coordinate(outputs[i])});
  return signature;
}

void Detector::choose() {
  names_ = names_from(network_.model().metadata);
  const bool told = !names_.empty();
  signature_.classes = static_cast<int64_t>(names_.size());
  choice_ = choose_decoder(signature_, options_.decoder);
  if (options_.labels.empty()) return;
  names_ = read_names(options_.labels);
  const auto count = static_cast<int64_t>(names_.size());
  const auto fits = [count](const DecoderChoice& choice) {
    return choice.match.classes == 0 || choice.match.classes == count;
  };
  if (!told && !fits(choice_)) {
    // If two forms have the same shapes, the number of names decides between them, unless the form accepts
    // any number.
    Signature labelled = signature_;
    labelled.classes = count;
    const auto other = other_choice(labelled, options_.decoder);
    if (other && other->decoder != choice_.decoder && other->decoder->needs_nms && fits(*other)) {
      signature_ = labelled;
      choice_ = *other;
    }
  }
  if (!fits(choice_))
    throw Error(ErrorKind::kBadInput, other_count_text(names_.size(), choice_.match.classes),
                options_.labels);
}

tensor::Tensor Detector::make_input() const {
  return tensor::Tensor(tensor::DType::kFloat32, network_.input().shape());
}

void Detector::fill(const media::Frame& frame, const Geometry& geometry, int64_t row,
                    tensor::Tensor* input) const {
  const ImageInput& form = network_.input();
  const int64_t image = form.channels * form.height * form.width;
  preprocessor_->fill(frame, geometry, input->mutable_values<float>().data() + row * image);
}

NetworkOutputs Detector::run(size_t stream, const tensor::Tensor& input,
                             const std::vector<Geometry>& geometries) {
  std::vector<Network::Size> sizes;
  for (const Geometry& geometry : geometries) sizes.push_back({geometry.image_width, geometry.image_height});
  NetworkOutputs outputs{network_.run(input, sizes, stream)};
  if (network_.place().kind != tensor::PlaceKind::kCpu) {
    const auto bytes = static_cast<int64_t>(tensor::dtype_size(network_.input().dtype)) *
                       tensor::element_count(network_.input().shape());
    host_transfers_->add(Transfer::kInputToDevice, 1, bytes);
    for (const tensor::Tensor& output : outputs.tensors)
      host_transfers_->add(Transfer::kOutputsToHost, 1, static_cast<int64_t>(output.byte_size()));
  }
  return outputs;
}

std::optional<DeviceFrames::Upload> Detector::upload(size_t stream,
                                                     std::span<const media::Frame* const> frames,
                                                     std::span<const Geometry> geometries) {
  std::vector<engine::BoxPlace> places;
  for (const Geometry& geometry : geometries) places.push_back(place_of(*choice_.decoder, geometry));
  const auto form_of = [&](size_t i) { return preprocessor_->form_of(*frames[i], geometries[i]); };
  return feed_.upload(stream, frames, form_of, places);
}

Refusal Detector::find_on_device() {
  const Decoder& decoder = *choice_.decoder;
  if (!options_.find_on_device) return "nobody asked for it";
  if (decoder.head_rule == nullptr) return fmt::format("outputs of {} are small", decoder.name);
  BoxPlan plan{{}, {}, selection_of(decoder, signature_, options_.finish)};
  for (size_t role = 0; role < choice_.match.roles.size(); ++role) {
    const Role& form = choice_.match.roles[role];
    const tensor::Shape part = part_of(form, signature_.outputs[form.output].shape);
    plan.heads.push_back(decoder.head_rule({choice_.match, signature_, options_.threshold}, role, part));
    plan.outputs.push_back(form.output);
  }
  try {
    return feed_.find_boxes(plan);
  } catch (const LostDevice&) {
    throw;
  } catch (const Error& error) {
    // The device may lack memory for candidates.
    if (error.kind() != ErrorKind::kEnvironment) throw;
    return error.what();
  }
}

std::vector<Detection> Detector::decode(const NetworkOutputs& outputs, int64_t row,
                                        const Geometry& geometry) const {
  std::vector<Detection> found = decode_all(outputs, row, geometry);
  // A box that lies outside the image has no area after clipping.
  std::erase_if(found, [](const Detection& one) { return !(one.box.width() > 0 && one.box.height() > 0); });
  return found;
}

std::vector<Detection> Detector::decode_all(const NetworkOutputs& outputs, int64_t row,
                                            const Geometry& geometry) const {
  if (!outputs.boxes.empty()) {
    std::vector<Detection> found;
    for (const engine::FoundBox& one : outputs.boxes[static_cast<size_t>(row)])
      found.push_back({one.box, one.score, one.label});
    return found;
  }
  const DecodeCall call{{choice_.match, signature_, options_.threshold}, outputs.tensors, row};
  try {
    return decode_image(choice_, call, geometry, options_.finish);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kBadInput || !error.where().empty()) throw;
    throw error.within(options_.network.model);
  }
}

AllTraffic Detector::traffic() const {
  AllTraffic traffic{};
  add_traffic(*host_transfers_, &traffic);
  feed_.add_traffic(&traffic);
  return traffic;
}

std::vector<std::string> Detector::notes() const {
  std::vector<std::string> notes = network_.notes();
  std::string known = fmt::format("outputs are read as {}", choice_.decoder->form);
  if (!choice_.match.assumed.empty()) known += fmt::format("; assumed: {}", choice_.match.assumed);
  notes.push_back(known);
  if (!nan_note_.empty()) notes.push_back(nan_note_);
  if (feed_.has_device())
    notes.push_back(finding_refusal_ ? "boxes are found on the host: " + finding_refusal_.text()
                                     : "boxes are found on the device, non-maximum suppression included");
  notes.push_back("images are fitted by " + preprocessor_->text());
  return notes;
}

}  // namespace hone::task
