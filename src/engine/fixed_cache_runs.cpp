// See fixed_cache_runs.hpp.
#include "engine/fixed_cache_runs.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <set>
#include <sstream>

#include "base/error.hpp"
#include "engine/description.hpp"
#include "tensor/saturate.hpp"
#include "transform/fixed_caches.hpp"

namespace hone::engine {

using graph::Graph;
using graph::TensorType;
using tensor::Buffer;
using tensor::Tensor;
using tensor::TensorView;

namespace {

/// Keys of the metadata; their values are lines INPUT=OUTPUT, and a number.
constexpr const char* kBound = "cache.bound";
constexpr const char* kCapacity = "cache.capacity";

/// Limit on bindings; a new one replaces the least recently used one.
constexpr size_t kMostBindings = 16;

/// Index of the name among the graph's inputs or outputs `ids`.
std::optional<size_t> place_of(const Graph& graph, const std::vector<graph::ValueId>& ids,
                               std::string_view name) {
  for (size_t i = 0; i < ids.size(); ++i) {
    if (graph.value(ids[i]).name == name) return i;
  }
  return std::nullopt;
}

/// Finds the input and the output that a line INPUT=OUTPUT names; both must have the same element type.
std::optional<Carry> cache_named(const Graph& graph, std::string_view line) {
  for (size_t at = line.find('='); at != std::string_view::npos; at = line.find('=', at + 1)) {
    const auto input = place_of(graph, graph.inputs, line.substr(0, at));
    const auto output = place_of(graph, graph.outputs, line.substr(at + 1));
    if (!input || !output) continue;
    const DType taken = graph.value(graph.inputs[*input]).type.dtype;
    if (taken == graph.value(graph.outputs[*output]).type.dtype) return Carry{*input, *output};
  }
  return std::nullopt;
}

/// The dimension after the batch that has this size in all caches.
std::optional<size_t> axis_of(const Graph& graph, const std::vector<Carry>& caches, int64_t capacity) {
  const auto& first = graph.value(graph.inputs[caches.front().input]).type;
  for (size_t axis = 1; first.ranked() && axis < first.dims->size(); ++axis) {
    const bool fits = std::all_of(caches.begin(), caches.end(), [&](const Carry& cache) {
      const auto& in = graph.value(graph.inputs[cache.input]).type;
      const auto& out = graph.value(graph.outputs[cache.output]).type;
      return in.ranked() && out.ranked() && axis < in.dims->size() && axis < out.dims->size() &&
             (*in.dims)[axis].is(capacity) && (*out.dims)[axis].is(capacity);
    });
    if (fits) return axis;
  }
  return std::nullopt;
}

/// Allocates memory for a tensor on the device.
TensorView view_at(const Device& device, DType dtype, const Shape& shape) {
  TensorView view;
  view.dtype = dtype;
  view.shape = shape;
  const auto bytes = static_cast<int64_t>(Tensor(dtype, shape).byte_size());
  view.buffer = device.allocate(std::max<int64_t>(bytes, 1));
  view.buffer.bytes = bytes;
  return view;
}

void copy_there(const Device& device, const Tensor& from, const TensorView& to, const tensor::Queue* queue) {
  if (from.byte_size() > 0) device.copy(tensor::view_of(from).buffer, to.buffer, queue);
}

Tensor copy_here(const Device& device, const TensorView& from, const tensor::Queue* queue) {
  Tensor result(from.dtype, from.shape);
  if (result.byte_size() == 0) return result;
  Buffer source = from.buffer;
  source.bytes = static_cast<int64_t>(result.byte_size());
  device.copy(source, tensor::view_of(result).buffer, queue);
  return result;
}

/// Copies the first tokens along the axis; the tensors may differ only in the size of this axis.
void copy_tokens(const Tensor& from, Tensor& to, size_t axis, int64_t tokens) {
  const auto bytes_of = [&](const Shape& shape) {
    return tensor::element_count(std::span(shape).subspan(axis + 1)) *
           static_cast<int64_t>(tensor::dtype_size(from.dtype()));
  };
  const auto row = static_cast<size_t>(bytes_of(from.shape()) * tokens);
  const int64_t rows = tensor::element_count(std::span(from.shape()).first(axis));
  for (int64_t i = 0; i < rows && row > 0; ++i) {
    const auto at = [&](const Shape& shape) {
      return static_cast<size_t>(i * shape[axis] * bytes_of(shape));
    };
    std::memcpy(to.mutable_bytes() + at(to.shape()), from.bytes() + at(from.shape()), row);
  }
}

}  // namespace

std::shared_ptr<const Graph> with_fixed_caches(const Graph& graph, std::span<const std::string> bind,
                                               int64_t capacity, tensor::DType stored,
                                               std::map<std::string, std::string>* metadata) {
  std::vector<transform::CacheEnds> ends;
  std::vector<std::string> lines;
  for (const Carry& carry : parse_carries(graph, bind)) {
    ends.push_back({carry.input, carry.output});
    lines.push_back(fmt::format("{}={}", graph.value(graph.inputs[carry.input]).name,
                                graph.value(graph.outputs[carry.output]).name));
  }
  auto fixed = std::make_shared<Graph>(graph);
  if (const Refusal refusal = transform::fix_caches(*fixed, ends, capacity))
    fail_bad_input("the caches cannot have a fixed capacity: {}; build without --bind, and bind when running",
                   refusal.text());
  if (stored != DType::kFloat32) transform::store_caches_as(*fixed, ends, stored);
  (*metadata)[kBound] = fmt::format("{}", fmt::join(lines, "\n"));
  (*metadata)[kCapacity] = std::to_string(capacity);
  return fixed;
}

std::optional<FixedCaches> fixed_caches_of(const Engine& engine) {
  const auto bound = engine.metadata.find(kBound);
  const auto capacity = engine.metadata.find(kCapacity);
  if (bound == engine.metadata.end() || capacity == engine.metadata.end()) return std::nullopt;
  const Graph& graph = *engine.graph;
  const auto require = [](bool condition, const char* what) {
    if (!condition) fail_bad_input("the metadata of the engine do not fit its {}", what);
  };
  FixedCaches result;
  const std::string& number = capacity->second;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), result.capacity);
  require(error == std::errc() && end == number.data() + number.size(), "capacity");
  std::istringstream text(bound->second);
  std::set<size_t> taken;
  std::set<size_t> given;
  for (std::string line; std::getline(text, line);) {
    const auto cache = cache_named(graph, line);
    require(cache && taken.insert(cache->input).second && given.insert(cache->output).second, "caches");
    result.caches.push_back(*cache);
  }
  require(!result.caches.empty(), "caches");
  const auto axis = axis_of(graph, result.caches, result.capacity);
  const auto length = place_of(graph, graph.inputs, transform::kCacheLength);
  require(axis.has_value(), "caches");
  require(length.has_value(), "inputs");
  result.axis = *axis;
  result.length_input = *length;
  const TensorType& type = graph.value(graph.inputs[*length]).type;
  require(type.dtype == DType::kInt64 && type.ranked() && type.dims->size() == 1 && (*type.dims)[0].is(1),
          "inputs");
  // An engine for a single shape has no open dimension; the tokens are then along the dimension after the
  // batch.
  for (const bool open : {true, false}) {
    for (size_t i = 0; i < graph.inputs.size(); ++i) {
      const TensorType& input = graph.value(graph.inputs[i]).type;
      for (size_t d = 1; input.ranked() && d < input.dims->size(); ++d) {
        if ((open && (*input.dims)[d].known()) || result.tokens_axis != 0 || taken.contains(i)) continue;
        result.tokens_input = i;
        result.tokens_axis = d;
      }
    }
  }
  require(result.tokens_axis != 0, "inputs");
  return result;
}

/// A program for one shape of the inputs, with memory for inputs that are not its own.
struct FixedCacheRuns::Bound {
  std::vector<Shape> shapes;
  std::vector<TensorView> inputs;
  std::optional<Binding> binding;
};

FixedCacheRuns::FixedCacheRuns(std::shared_ptr<LoadedEngine> loaded, FixedCaches caches)
    : loaded_(std::move(loaded)),
      context_(loaded_),
      caches_(std::move(caches)),
      queue_(loaded_->device().make_queue()) {}

FixedCacheRuns::~FixedCacheRuns() = default;

bool FixedCacheRuns::is_own_input(size_t input) const {
  return input == caches_.length_input ||
         std::any_of(caches_.caches.begin(), caches_.caches.end(),
                     [&](const Carry& cache) { return cache.input == input; });
}

bool FixedCacheRuns::is_cache_output(size_t output) const {
  return std::any_of(caches_.caches.begin(), caches_.caches.end(),
                     [&](const Carry& cache) { return cache.output == output; });
}

std::vector<Tensor> FixedCacheRuns::run(std::span<const Tensor> inputs) {
  upload(inputs);
  execute();
  std::vector<Tensor> outputs = download();
  advance();
  return outputs;
}

void FixedCacheRuns::upload(std::span<const Tensor> inputs) {
  const Graph& graph = *loaded_->engine().graph;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const graph::Value& value = graph.value(graph.inputs[i]);
    if (!is_own_input(i) && inputs[i].dtype() != value.type.dtype)
      fail_bad_input("input '{}' has type {}, expected {}", value.name, tensor::dtype_name(inputs[i].dtype()),
                     value.type.text());
  }
  const Tensor& tokens = inputs[caches_.tokens_input];
  const TensorType& type = graph.value(graph.inputs[caches_.tokens_input]).type;
  if (tokens.rank() != static_cast<int64_t>(type.dims->size()))
    fail_bad_input("input '{}' has shape {}, expected {}",
                   graph.value(graph.inputs[caches_.tokens_input]).name, tensor::shape_text(tokens.shape()),
                   type.text());
  const int64_t fresh = tokens.shape()[caches_.tokens_axis];
  if (fresh > caches_.capacity - length_)
    fail_bad_input(
        "the caches hold {} tokens, of which {} are used, and {} more come: build with larger --maxShapes of "
        "the caches",
        caches_.capacity, length_, fresh);
  const int64_t batch = tokens.shape()[0];
  if (length_ > 0 && batch != batch_)
    fail_bad_input("a batch of {} comes, the caches hold tokens of {}", batch, batch_);
  if (batch != batch_) make_caches(batch);
  const Device& device = loaded_->device();
  Bound& bound = bound_for(inputs);
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!is_own_input(i)) copy_there(device, inputs[i], bound.inputs[i], queue_.get());
  }
  const Tensor length = Tensor::of<int64_t>({length_}, {1});
  copy_there(device, length, length_view_, queue_.get());
  synchronize();
  current_ = &bound;
  fresh_ = fresh;
}

void FixedCacheRuns::execute() {
  context_.run(*current_->binding, queue_.get());
  synchronize();
}

std::vector<Tensor> FixedCacheRuns::download() const {
  std::vector<Tensor> outputs;
  for (size_t i = 0; i < loaded_->engine().graph->outputs.size(); ++i) {
    if (is_cache_output(i)) {
      outputs.emplace_back();
    } else {
      outputs.push_back(copy_here(loaded_->device(), current_->binding->outputs()[i], queue_.get()));
    }
  }
  synchronize();
  return outputs;
}

FixedCacheRuns::Filling FixedCacheRuns::prepare(std::span<const Tensor> inputs) const {
  const Graph& graph = *loaded_->engine().graph;
  Filling filling;
  for (const Carry& cache : caches_.caches) {
    const graph::Value& value = graph.value(graph.inputs[cache.input]);
    const Tensor& given = inputs[cache.input];
    const int64_t length =
        given.rank() > static_cast<int64_t>(caches_.axis) ? given.shape()[caches_.axis] : -1;
    if (given.dtype() != DType::kFloat32 || length < 0 || length > caches_.capacity ||
        (!filling.caches.empty() && (length != filling.length || given.shape()[0] != filling.batch)))
      fail_bad_input("input '{}' is no cache of {} tokens at most: it has shape {}", value.name,
                     caches_.capacity, tensor::shape_text(given.shape()));
    filling.length = length;
    filling.batch = given.shape()[0];
    Shape shape = given.shape();
    shape[caches_.axis] = caches_.capacity;
    // The network also reads the rows of tokens that were never written, so these must not contain
    // infinities.
    Tensor whole(value.type.dtype, shape);
    if (whole.byte_size() > 0) std::memset(whole.mutable_bytes(), 0, whole.byte_size());
    copy_tokens(value.type.dtype == DType::kFloat32 ? given : tensor::saturated(given, value.type.dtype),
                whole, caches_.axis, length);
    filling.caches.push_back(std::move(whole));
  }
  return filling;
}

void FixedCacheRuns::fill(const Filling& filling) {
  if (filling.batch != batch_) make_caches(filling.batch);
  for (size_t k = 0; k < memory_.size(); ++k)
    copy_there(loaded_->device(), filling.caches[k], memory_[k], queue_.get());
  synchronize();
  length_ = filling.length;
}

Tensor FixedCacheRuns::cache(size_t output) const {
  const auto found = std::find_if(caches_.caches.begin(), caches_.caches.end(),
                                  [&](const Carry& cache) { return cache.output == output; });
  const Tensor whole = copy_here(loaded_->device(),
                                 memory_[static_cast<size_t>(found - caches_.caches.begin())], queue_.get());
  synchronize();
  Shape shape = whole.shape();
  shape[caches_.axis] = length_ + fresh_;
  Tensor result(whole.dtype(), shape);
  copy_tokens(whole, result, caches_.axis, length_ + fresh_);
  return result.dtype() == DType::kFloat32 ? result : result.cast(DType::kFloat32);
}

void FixedCacheRuns::synchronize() const {
  if (queue_ != nullptr) queue_->synchronize();
}

std::vector<Shape> FixedCacheRuns::shapes() const {
  if (current_ == nullptr) return tuned_shapes(loaded_->engine());
  std::vector<Shape> shapes;
  for (const TensorView& input : current_->inputs) shapes.push_back(input.shape);
  return shapes;
}

bool FixedCacheRuns::can_be_watched() { return context_.execution(shapes())->executor().can_be_watched(); }

std::unique_ptr<DeviceWatch> FixedCacheRuns::watch() {
  return current_ == nullptr ? nullptr : current_->binding->watch();
}

void FixedCacheRuns::reset() {
  length_ = 0;
  batch_ = kNoBatch;
}

void FixedCacheRuns::make_caches(int64_t batch) {
  const Graph& graph = *loaded_->engine().graph;
  const Device& device = loaded_->device();
  bound_.clear();
  current_ = nullptr;
  memory_.clear();
  for (const Carry& cache : caches_.caches) {
    const graph::Value& value = graph.value(graph.inputs[cache.input]);
    Shape shape;
    for (const graph::Dim& dim : *value.type.dims) shape.push_back(dim.known() ? dim.value() : batch);
    // The network also reads the rows of tokens that were never written, so these must not contain
    // infinities.
    Tensor zeros(value.type.dtype, shape);
    if (zeros.byte_size() > 0) std::memset(zeros.mutable_bytes(), 0, zeros.byte_size());
    memory_.push_back(view_at(device, value.type.dtype, shape));
    copy_there(device, zeros, memory_.back(), queue_.get());
    synchronize();
  }
  length_view_ = view_at(device, DType::kInt64, {1});
  batch_ = batch;
}

FixedCacheRuns::Bound& FixedCacheRuns::bound_for(std::span<const Tensor> inputs) {
  std::vector<Shape> shapes;
  for (size_t i = 0; i < inputs.size(); ++i) shapes.push_back(is_own_input(i) ? Shape() : inputs[i].shape());
  const auto known =
      std::find_if(bound_.begin(), bound_.end(), [&](const auto& bound) { return bound->shapes == shapes; });
  if (known != bound_.end()) {
    std::rotate(known, known + 1, bound_.end());
    return *bound_.back();
  }
  const Graph& graph = *loaded_->engine().graph;
  auto made = std::make_unique<Bound>();
  made->shapes = std::move(shapes);
  for (size_t i = 0; i < inputs.size(); ++i) {
    made->inputs.push_back(
        is_own_input(i) ? length_view_ : view_at(loaded_->device(), inputs[i].dtype(), inputs[i].shape()));
  }
  std::vector<TensorView> outputs(graph.outputs.size());
  BindOptions options;
  for (size_t k = 0; k < caches_.caches.size(); ++k) {
    const Carry& cache = caches_.caches[k];
    made->inputs[cache.input] = memory_[k];
    outputs[cache.output] = memory_[k];
    options.aliases.push_back({.output = cache.output, .input = cache.input});
  }
  made->binding.emplace(context_.bind(made->inputs, outputs, options));
  if (bound_.size() == kMostBindings) bound_.erase(bound_.begin());
  bound_.push_back(std::move(made));
  return *bound_.back();
}

}  // namespace hone::engine
