// See network.hpp.
#include "task/network.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>

#include "backend/hone/hone_backend.hpp"
#include "backend/registry.hpp"
#include "backend/shareable.hpp"
#include "base/error.hpp"
#include "device/devices.hpp"
#include "engine/engine_file.hpp"
#include "quantize/float_graph.hpp"

namespace hone::task {
namespace {

using tensor::DType;

constexpr int64_t kLargestSide = 16384;
constexpr int64_t kLargestBatch = 4096;

bool holds_images(const graph::TensorType& type) {
  const bool numbers = type.dtype == DType::kFloat32 || type.dtype == DType::kFloat16 ||
                       type.dtype == DType::kBFloat16 || type.dtype == DType::kUInt8;
  if (!numbers || !type.ranked() || (type.dims->size() != 4 && type.dims->size() != 3)) return false;
  const graph::Dims& dims = *type.dims;
  const graph::Dim& first = dims[dims.size() - 3];
  const auto is_channels = [](const graph::Dim& dim) { return dim.is(3) || dim.is(1) || !dim.known(); };
  return is_channels(first) || is_channels(dims.back());
}

/// Parses "[96, 64]" or "640": height and width.
std::optional<std::pair<int64_t, int64_t>> size_in(const importer::Metadata& metadata) {
  const auto told = metadata.find("imgsz");
  if (told == metadata.end()) return std::nullopt;
  std::vector<int64_t> numbers;
  const std::string& text = told->second;
  for (const char* at = text.data(); at < text.data() + text.size();) {
    int64_t value = 0;
    const auto [end, code] = std::from_chars(at, text.data() + text.size(), value);
    if (code == std::errc() && value > 0 && value <= kLargestSide) numbers.push_back(value);
    at = code == std::errc() ? end : at + 1;
  }
  if (numbers.empty()) return std::nullopt;
  return std::pair(numbers.front(), numbers.back());
}

/// Refuses int8 without calibrated ranges: ranges from generated inputs would make the outputs meaningless.
void check_precision(const NetworkOptions& options, const importer::Model& model) {
  const bool int8 = backend::parse_precision(options.precision) == tensor::Precision::kInt8;
  if (int8 && model.graph != nullptr && quantize::quantized_part(*model.graph).empty())
    fail_usage(
        "int8 needs ranges: give hone build --precision int8 data with --calibrate and detect with that "
        "engine, or take a model that is quantized already");
}

}  // namespace

tensor::Shape ImageInput::shape() const {
  tensor::Shape shape = channels_last ? tensor::Shape{batch, height, width, channels}
                                      : tensor::Shape{batch, channels, height, width};
  if (!has_batch) shape.erase(shape.begin());
  return shape;
}

Network::Network(const NetworkOptions& options) : bind_frames_(options.bind_frames) {
  std::shared_ptr<const engine::Engine> engine;
  if (engine::is_engine_file(options.model)) {
    engine = engine::load_engine(options.model);
    model_ = {engine->model, options.model, engine->graph, engine->metadata};
  } else {
    model_ = importer::load_model(options.model, options.load);
  }
  if (model_.graph == nullptr)
    fail_bad_input(
        "a TorchScript archive does not say what it takes and gives; export it to ONNX with inputs of your "
        "shape: "
        "python3 -c 'import torch; torch.onnx.export(torch.jit.load(\"{0}\"), (torch.zeros(1, 3, 640, "
        "640),), "
        "\"{1}.onnx\", dynamo=False)'",
        options.model, std::filesystem::path(options.model).stem().string());
  check_precision(options, model_);
  find_input(options);
  load(options, engine);
  add_streams(options);
}

int64_t Network::choose_side(const NetworkOptions& options, bool is_width, size_t dimension) {
  const graph::Value& value = model_.graph->value(model_.graph->inputs[input_.index]);
  const graph::Dim& dim = (*value.type.dims)[dimension];
  const std::optional<int64_t> wanted = is_width ? options.width : options.height;
  if (dim.known()) {
    if (wanted && *wanted != dim.value())
      fail_usage("--size: the input '{}' has a {} of {}", input_.name, is_width ? "width" : "height",
                 dim.value());
    return dim.value();
  }
  if (wanted) return *wanted;
  const auto told = size_in(model_.metadata);
  if (told) return is_width ? told->second : told->first;
  if (is_width)
    notes_.push_back(fmt::format("the input '{}' takes any size: {} x {} is assumed (--size)", input_.name,
                                 options.usual_side, options.usual_side));
  return options.usual_side;
}

void Network::find_input(const NetworkOptions& options) {
  const graph::Graph& graph = *model_.graph;
  std::optional<size_t> found;
  for (size_t i = 0; i < graph.inputs.size(); ++i) {
    const graph::Value& value = graph.value(graph.inputs[i]);
    if (!found && holds_images(value.type)) {
      found = i;
    } else if (value.name == "orig_target_sizes" && value.type.dtype == DType::kInt64) {
      size_input_ = i;
    } else if (value.name == "pixel_mask" && value.type.dtype == DType::kInt64 && value.type.ranked() &&
               value.type.dims->size() == 3) {
      mask_input_ = i;
    } else {
      fail_bad_input("its input '{}' {} is not for images; hone run --input takes arrays for such inputs",
                     value.name, value.type.text());
    }
  }
  if (!found) fail_bad_input("it has no input for images; hone run --input takes arrays for other inputs");
  input_.index = *found;
  const graph::Value& value = graph.value(graph.inputs[*found]);
  const graph::Dims& dims = *value.type.dims;
  input_.name = value.name;
  input_.dtype = value.type.dtype;
  input_.has_batch = dims.size() == 4;
  const size_t first = input_.has_batch ? 1 : 0;
  input_.channels_last =
      !(dims[first].is(3) || dims[first].is(1)) && (dims.back().is(3) || dims.back().is(1));
  const graph::Dim& channels = input_.channels_last ? dims.back() : dims[first];
  input_.channels = channels.known() ? channels.value() : 3;
  input_.height = choose_side(options, false, input_.channels_last ? first : first + 1);
  input_.width = choose_side(options, true, input_.channels_last ? first + 1 : first + 2);
  if (input_.height <= 0 || input_.width <= 0 || input_.height > kLargestSide || input_.width > kLargestSide)
    fail_bad_input("its input '{}' {} has no size of an image", value.name, value.type.text());
  const bool fixed = !input_.has_batch || dims[0].known();
  const int64_t own = input_.has_batch && dims[0].known() ? dims[0].value() : 1;
  if (fixed && options.batch && *options.batch != own)
    fail_usage("--batch {}: the input '{}' takes {} image{} a run", *options.batch, input_.name, own,
               own == 1 ? "" : "s");
  input_.batch = fixed ? own : options.batch.value_or(1);
  if (input_.batch <= 0 || input_.batch > kLargestBatch)
    fail_bad_input("its input '{}' {} takes no images", value.name, value.type.text());
  if (mask_input_) make_mask();
}

/// Fills the mask with ones, because every image covers the whole input. Exports contain the mask with fixed
/// sides, which may differ from those of the input.
void Network::make_mask() {
  const graph::Value& value = model_.graph->value(model_.graph->inputs[*mask_input_]);
  const graph::Dims& dims = *value.type.dims;
  const auto side = [](const graph::Dim& dim, int64_t open) { return dim.known() ? dim.value() : open; };
  const tensor::Shape shape{side(dims[0], input_.batch), side(dims[1], input_.height),
                            side(dims[2], input_.width)};
  const bool sound = shape[0] == input_.batch && std::min(shape[1], shape[2]) > 0 &&
                     std::max(shape[1], shape[2]) <= kLargestSide;
  if (!sound)
    fail_bad_input("its input '{}' {} is no mask of {} image{}", value.name, value.type.text(), input_.batch,
                   input_.batch == 1 ? "" : "s");
  mask_ = tensor::Tensor(DType::kInt64, shape);
  std::ranges::fill(mask_.mutable_values<int64_t>(), int64_t{1});
}

void Network::load(const NetworkOptions& options, std::shared_ptr<const engine::Engine> engine) {
  if (engine != nullptr) {
    std::optional<tensor::Place> place;
    if (!options.device.empty()) place = tensor::parse_place(options.device);
    place_ = device::device_of_fingerprint(engine->fingerprint(), place).place();
    executables_.push_back(backend::make_engine_executable(std::move(engine), options.threads, place));
    return;
  }
  backend::LoadOptions load;
  load.device = options.device.empty() ? "cpu" : options.device;
  place_ = tensor::parse_place(load.device);
  load.precision = backend::parse_precision(options.precision);
  load.threads = options.threads;
  load.progress = options.progress;
  load.input_shapes[input_.name] = input_.shape();
  if (size_input_) load.input_shapes["orig_target_sizes"] = {input_.batch, 2};
  if (mask_input_) load.input_shapes["pixel_mask"] = mask_.shape();
  executables_.push_back(backend::make_backend(options.backend)->load(model_, load));
}

void Network::add_streams(const NetworkOptions& options) {
  if (options.streams == 1) return;
  const auto* const first = dynamic_cast<const backend::Shareable*>(executables_.front().get());
  if (first == nullptr)
    fail_usage("--infStreams {}: {} runs one batch at a time here", options.streams, options.backend);
  while (executables_.size() < static_cast<size_t>(options.streams)) executables_.push_back(first->share());
}

std::vector<std::string> Network::input_names() const {
  std::vector<std::string> names;
  for (const graph::ValueId id : model_.graph->inputs) names.push_back(model_.graph->value(id).name);
  return names;
}

std::vector<std::string> Network::output_names() const {
  std::vector<std::string> names;
  for (const graph::ValueId id : model_.graph->outputs) names.push_back(model_.graph->value(id).name);
  return names;
}

std::vector<tensor::Tensor> Network::run(const tensor::Tensor& images, std::span<const Size> sizes,
                                         size_t stream) {
  std::vector<tensor::Tensor> inputs(model_.graph->inputs.size());
  inputs[input_.index] = input_.dtype == DType::kFloat32 ? images : images.cast(input_.dtype);
  if (size_input_) {
    tensor::Tensor told(DType::kInt64, {input_.batch, 2});
    const auto values = told.mutable_values<int64_t>();
    for (size_t i = 0; i < static_cast<size_t>(input_.batch); ++i) {
      const Size size = sizes[std::min(i, sizes.size() - 1)];
      values[2 * i] = size.width;
      values[2 * i + 1] = size.height;
    }
    inputs[*size_input_] = told;
  }
  if (mask_input_) inputs[*mask_input_] = mask_;
  return executables_[stream]->run(inputs);
}

Refusal Network::frames_refusal() const {
  if (!bind_frames_) return "--preprocess cpu";
  if (model_.graph->inputs.size() != 1) return "the network has other inputs than images";
  return {};
}

std::vector<FrameBinding> Network::bind_frames(const engine::FrameTarget& target) {
  std::vector<FrameBinding> bindings;
  for (const auto& executable : executables_) {
    Refusal refusal = frames_refusal();
    bindings.push_back(refusal ? FrameBinding{nullptr, std::move(refusal)}
                               : bind_frames_(*executable, place_, input_.shape(), target));
    if (bindings.back().frames == nullptr) break;
  }
  return bindings;
}

std::vector<std::string> Network::notes() const {
  std::vector<std::string> notes = notes_;
  for (const std::string& note : executables_.front()->notes()) notes.push_back(note);
  return notes;
}

}  // namespace hone::task
