// See binding.hpp.
#include "engine/binding.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <utility>

#include "engine/program/aliases.hpp"

namespace hone::engine {

using tensor::Buffer;
using tensor::TensorView;

void Binding::run(const tensor::Queue* queue) {
  check_queue(state_->loaded->device(), queue);
  if (!state_->inputs_are_ready) {
    for (const TensorView& input : state_->inputs) {
      if (input.buffer.ready == nullptr) continue;
      queue == nullptr ? input.buffer.ready->wait() : queue->wait(*input.buffer.ready);
    }
    state_->inputs_are_ready = true;
  }
  for (const auto& part : state_->parts) part->run(queue);
  for (const size_t output : state_->open_outputs)
    state_->outputs[output] = view_of(state_->parts[0]->open_output(output));
}

std::unique_ptr<DeviceWatch> Binding::watch() {
  return state_->parts.size() == 1 ? state_->parts.front()->watch() : nullptr;
}

void check_queue(const Device& device, const tensor::Queue* queue) {
  if (queue != nullptr && queue->place() != device.place())
    fail_usage("the queue is of {}, the engine runs on {}", place_text(queue->place()),
               place_text(device.place()));
}

namespace {

bool is_channels_last(const TensorView& view) {
  if (view.shape.size() != 4 || view.strides.size() != 4) return false;
  TensorView turned = view;
  turned.shape = {view.shape[0], view.shape[2], view.shape[3], view.shape[1]};
  turned.strides = {view.strides[0], view.strides[2], view.strides[3], view.strides[1]};
  return is_row_major(turned);
}

std::string stride_text(const Shape& strides) { return fmt::format("[{}]", fmt::join(strides, ", ")); }

}  // namespace

std::shared_ptr<const Kernel> strided_copy(const Device& device, const TensorView& view) {
  const Shape strides = view.strides.empty() ? tensor::row_major_strides(view.shape) : view.strides;
  auto kernel = device.make_strided_copy(view.dtype, view.shape, strides);
  if (kernel == nullptr)
    fail_usage("a tensor of strides {} cannot be reordered on {}: make it row-major", stride_text(strides),
               place_text(device.place()));
  return kernel;
}

/// Makes one binding.
class Binder {
 public:
  Binder(const std::shared_ptr<LoadedEngine>& loaded, const FindExecution& find, const BindOptions& options)
      : device_(loaded->device()), graph_(*loaded->engine().graph), find_(find), options_(options) {
    state_->loaded = loaded;
  }

  /// Reads the views and checks them for errors.
  void read(std::span<const TensorView> inputs, std::span<const TensorView> outputs) {
    for (const TensorView& input : inputs) read_input(input);
    find_parts();
    if (outputs.size() != graph_.outputs.size())
      fail_usage("{} outputs are bound, the model has {}", outputs.size(), graph_.outputs.size());
    for (const TensorView& output : outputs) read_output(output);
    for (const Alias& alias : options_.aliases) check_declared(alias);
    check_overlaps();
  }

  Binding make() {
    for (TensorView& output : state_->outputs) {
      if (output.defined() && output.data() == nullptr) output.buffer = device_.allocate(output.buffer.bytes);
    }
    std::vector<InputCopy> copies;
    for (const size_t input : reordered_) copies.push_back(reorder(input));
    int64_t first = 0;
    for (Part& part : parts_) {
      add_part(part, first, std::exchange(copies, {}));
      first += part.images;
    }
    return Binding(std::move(state_));
  }

 private:
  struct Part {
    std::shared_ptr<Execution> execution;
    int64_t images = 0;
  };

  const std::string& input_name(size_t i) const { return graph_.value(graph_.inputs[i]).name; }
  const std::string& output_name(size_t i) const { return graph_.value(graph_.outputs[i]).name; }

  void check_place(const TensorView& view, const char* role, const std::string& name) const {
    if (view.buffer.place == device_.place()) return;
    fail_usage("{} '{}' is on {}, the engine runs on {}: copy it there", role, name,
               place_text(view.buffer.place), place_text(device_.place()));
  }

  bool is_aligned(const TensorView& view) const {
    return reinterpret_cast<uintptr_t>(view.data()) % static_cast<uintptr_t>(device_.io_alignment()) == 0;
  }

  bool reads_channels_last(DType dtype) const {
    const std::vector<Layout> layouts = device_.image_layouts(state_->loaded->engine().precision());
    return tensor::is_floating(dtype) && dtype != DType::kFloat64 &&
           std::find(layouts.begin(), layouts.end(), Layout::kChannelsLast) != layouts.end();
  }

  void read_input(const TensorView& given) {
    TensorView view = given;
    const std::string& name = input_name(state_->inputs.size());
    check_place(view, "input", name);
    view.buffer.bytes = extent(view, fmt::format("input '{}'", name));
    Layout layout = Layout::kPlain;
    if (!is_row_major(view) && is_aligned(view) && is_channels_last(view) &&
        reads_channels_last(view.dtype)) {
      layout = Layout::kChannelsLast;
    } else if (!is_row_major(view) || !is_aligned(view)) {
      reordered_.push_back(state_->inputs.size());
    }
    shapes_.push_back(view.shape);
    layouts_.push_back(layout);
    state_->inputs.push_back(std::move(view));
  }

  InputCopy reorder(size_t input) {
    const TensorView& view = state_->inputs[input];
    auto kernel = strided_copy(device_, view);
    const int64_t bytes = TensorDesc{view.dtype, view.shape, Layout::kPlain}.bytes();
    const Buffer& to = state_->reordered.emplace_back(device_.allocate(bytes));
    reordered_to_[input] = to.data;
    return {std::move(kernel), view.data(), to.data};
  }

  /// Makes one part if the engine takes all images at once, else one for each group of images.
  void find_parts() {
    const std::vector<Shape> group = program_shapes(state_->loaded->engine(), shapes_);
    if (group == shapes_) {
      parts_.push_back({find_(shapes_, layouts_), shapes_.empty() || shapes_[0].empty() ? 0 : shapes_[0][0]});
      return;
    }
    batch_ = shapes_[0][0];
    for (int64_t first = 0; first < batch_; first += group[0][0]) {
      std::vector<Shape> shapes = shapes_;
      const int64_t images = std::min(group[0][0], batch_ - first);
      for (Shape& shape : shapes) shape[0] = images;
      parts_.push_back({find_(shapes, layouts_), images});
    }
  }

  void read_output(const TensorView& given) {
    const size_t index = state_->outputs.size();
    const graph::Graph& bound = parts_[0].execution->program().graph();
    const graph::TensorType& type = bound.value(bound.outputs[index]).type;
    if (!type.fully_known()) {
      if (given.defined())
        fail_usage(
            "the shape of output '{}' depends on data, so the engine allocates it: bind no memory to it",
            output_name(index));
      state_->open_outputs.push_back(index);
      state_->outputs.emplace_back();
      return;
    }
    Shape shape;
    for (const graph::Dim& dim : *type.dims) shape.push_back(dim.value());
    if (batch_ > 0) shape[0] = batch_;
    TensorView view = given;
    if (given.defined()) {
      check_output(view, index, type.dtype, shape);
    } else {
      view.buffer = {.place = device_.place(),
                     .bytes = TensorDesc{type.dtype, shape, Layout::kPlain}.bytes()};
      view.dtype = type.dtype;
      view.shape = shape;
    }
    state_->outputs.push_back(std::move(view));
  }

  void check_output(TensorView& view, size_t index, DType dtype, const Shape& shape) const {
    const std::string& name = output_name(index);
    if (view.dtype != dtype || view.shape != shape)
      fail_usage("output '{}' is {}[{}], {}[{}] is bound to it", name, tensor::dtype_name(dtype),
                 tensor::shape_text(shape), tensor::dtype_name(view.dtype), tensor::shape_text(view.shape));
    check_place(view, "output", name);
    view.buffer.bytes = extent(view, fmt::format("output '{}'", name));
    if (view.read_only) fail_usage("output '{}' is bound to memory that is read-only", name);
    if (!is_row_major(view))
      fail_usage("output '{}' is bound to memory of strides {}: it must be row-major", name,
                 stride_text(view.strides));
    if (!is_aligned(view))
      fail_usage("output '{}' is bound to memory that does not begin at a multiple of {} bytes", name,
                 device_.io_alignment());
  }

  void check_declared(const Alias& alias) const {
    if (alias.output >= state_->outputs.size() || alias.input >= state_->inputs.size())
      fail_usage("output {} is declared in the memory of input {}, which the model does not have",
                 alias.output, alias.input);
    const TensorView& output = state_->outputs[alias.output];
    const TensorView& input = state_->inputs[alias.input];
    const std::string& name = output_name(alias.output);
    if (output.data() != input.data() || output.buffer.bytes != input.buffer.bytes || !is_row_major(input))
      fail_usage("output '{}' is declared in the memory of input '{}' and must be in exactly that", name,
                 input_name(alias.input));
    for (const Part& part : parts_) {
      if (const std::string fault = alias_fault(part.execution->program(), alias.output, alias.input);
          !fault.empty())
        fail_usage("output '{}' cannot be in the memory of input '{}': {}", name, input_name(alias.input),
                   fault);
    }
  }

  bool is_declared(size_t output, size_t input) const {
    return std::any_of(options_.aliases.begin(), options_.aliases.end(),
                       [&](const Alias& alias) { return alias.output == output && alias.input == input; });
  }

  void check_overlaps() const {
    for (size_t i = 0; i < state_->outputs.size(); ++i) {
      const Buffer& output = state_->outputs[i].buffer;
      for (size_t k = 0; k < state_->inputs.size(); ++k) {
        if (!is_declared(i, k) && overlaps(output, state_->inputs[k].buffer))
          fail_usage("output '{}' lies in the memory of input '{}', which was not declared", output_name(i),
                     input_name(k));
      }
      for (size_t k = 0; k < i; ++k) {
        if (overlaps(output, state_->outputs[k].buffer))
          fail_usage("outputs '{}' and '{}' share memory", output_name(k), output_name(i));
      }
    }
  }

  void add_part(Part& part, int64_t first_image, std::vector<InputCopy> copies) {
    IoAddresses io;
    for (size_t i = 0; i < shapes_.size(); ++i) {
      const TensorView& input = state_->inputs[i];
      const auto moved = reordered_to_.find(i);
      io.inputs.push_back((moved == reordered_to_.end() ? input.data() : moved->second) +
                          image_offset(input, first_image));
    }
    for (const TensorView& output : state_->outputs)
      io.outputs.push_back(output.defined() ? output.data() + image_offset(output, first_image) : nullptr);
    state_->parts.push_back(part.execution->executor().bind(std::move(io), std::move(copies)));
    state_->executions.push_back(std::move(part.execution));
  }

  /// Offset in bytes to this image of a row-major tensor, if images run in groups.
  int64_t image_offset(const TensorView& view, int64_t image) const {
    return image == 0 ? 0 : TensorDesc{view.dtype, view.shape, Layout::kPlain}.bytes() / batch_ * image;
  }

  const Device& device_;
  const graph::Graph& graph_;
  const FindExecution& find_;
  const BindOptions& options_;
  std::unique_ptr<Binding::State> state_ = std::make_unique<Binding::State>();
  std::vector<Shape> shapes_;
  std::vector<Layout> layouts_;
  /// Inputs whose arrangement no program can read, and the memory to which they are copied.
  std::vector<size_t> reordered_;
  std::map<size_t, std::byte*> reordered_to_;
  std::vector<Part> parts_;
  /// The batch, if its images run in groups; else 0.
  int64_t batch_ = 0;
};

Binding make_binding(const std::shared_ptr<LoadedEngine>& loaded, const FindExecution& find,
                     std::span<const TensorView> inputs, std::span<const TensorView> outputs,
                     const BindOptions& options) {
  Binder binder(loaded, find, options);
  binder.read(inputs, outputs);
  return binder.make();
}

void check_views(const std::shared_ptr<LoadedEngine>& loaded, const FindExecution& find,
                 std::span<const TensorView> inputs, std::span<const TensorView> outputs) {
  const BindOptions options;
  Binder(loaded, find, options).read(inputs, outputs);
}

}  // namespace hone::engine
