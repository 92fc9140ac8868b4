// See hone/context.hpp.
#include "api/context.hpp"

#include "api/views.hpp"
#include "device/devices.hpp"
#include "tensor/dlpack.hpp"

namespace hone {
namespace {

const engine::Device& device_at(Place place) {
  return device::find_device(tensor::place_text(api::inner_place(place)));
}

}  // namespace

struct Queue::State {
  Place place;
  const engine::Device& device;
  /// Null on the host.
  std::unique_ptr<tensor::Queue> queue;
};

Queue::Queue(std::unique_ptr<State> state) : state_(std::move(state)) {}
Queue::Queue(Place place) {
  const engine::Device& device = device_at(place);
  state_ = std::make_unique<State>(State{place, device, device.make_queue()});
}
Queue::~Queue() = default;
Queue::Queue(Queue&&) noexcept = default;
Queue& Queue::operator=(Queue&&) noexcept = default;

Queue Queue::of_stream(Place place, void* stream) {
  const engine::Device& device = device_at(place);
  return Queue(std::make_unique<State>(State{place, device, device.wrap_queue(stream)}));
}

Queue Queue::of_dlpack_stream(Place place, int64_t number) {
  return of_stream(place, tensor::dlpack_stream(number));
}

Place Queue::place() const { return state_->place; }

void Queue::synchronize() const {
  if (state_->queue != nullptr) state_->queue->synchronize();
}

TensorView Buffer::view(DataType type, Dims dims, Dims strides) const {
  TensorView view(place, data, bytes, type, std::move(dims), std::move(strides));
  view.owner = owner;
  return view;
}

Buffer allocate(Place place, size_t bytes) {
  const tensor::Buffer made = device_at(place).allocate(static_cast<int64_t>(bytes));
  return {place, made.data, bytes, made.owner};
}

void copy(const TensorView& from, const TensorView& to, const Queue& queue) {
  const tensor::TensorView source = api::inner_view(from);
  const tensor::TensorView target = api::inner_view(to);
  if (!source.defined() || source.dtype != target.dtype || source.shape != target.shape)
    fail_usage("a copy needs two tensors of one type and shape");
  if (!is_row_major(source) || !is_row_major(target)) fail_usage("a copy needs row-major tensors");
  if (target.read_only) fail_usage("a copy cannot be made to memory that is read-only");
  const tensor::Place from_place = source.buffer.place;
  const tensor::Place to_place = target.buffer.place;
  const tensor::Place at = api::inner_place(queue.place());
  const tensor::Place needed = from_place.kind == tensor::PlaceKind::kCpu ? to_place : from_place;
  if (needed.kind != tensor::PlaceKind::kCpu && at != from_place && at != to_place)
    fail_usage("a copy of memory on {} needs a queue there", place_text(needed));
  tensor::Buffer bytes = source.buffer;
  bytes.bytes = extent(source, "the tensor to copy");
  extent(target, "the tensor to copy to");
  queue.state_->device.copy(bytes, target.buffer, queue.state_->queue.get());
}

struct Binding::State {
  engine::Binding binding;
};

Binding::Binding(std::unique_ptr<State> state) : state_(std::move(state)) {}
Binding::~Binding() = default;
Binding::Binding(Binding&&) noexcept = default;
Binding& Binding::operator=(Binding&&) noexcept = default;

std::vector<TensorView> Binding::outputs() const { return api::outer_views(state_->binding.outputs()); }
size_t Binding::reordered_inputs() const { return state_->binding.reordered_inputs(); }

Context::Context(std::unique_ptr<State> state) : state_(std::move(state)) {}
Context::~Context() = default;
Context::Context(Context&&) noexcept = default;
Context& Context::operator=(Context&&) noexcept = default;

Binding Context::bind(const std::vector<TensorView>& inputs, const std::vector<TensorView>& outputs,
                      const BindOptions& options) {
  const auto use = state_->user.use("context");
  return Binding(std::make_unique<Binding::State>(
      Binding::State{state_->context.bind(api::inner_views(inputs), api::inner_views(outputs), options)}));
}

void Context::run(Binding& binding, const Queue* queue) {
  const auto use = state_->user.use("context");
  state_->context.run(binding.state_->binding, queue == nullptr ? nullptr : queue->state_->queue.get());
}

std::vector<TensorView> Context::run(const std::vector<TensorView>& inputs,
                                     const std::vector<TensorView>& outputs, const Queue* queue) {
  const auto use = state_->user.use("context");
  return api::outer_views(state_->context.run(api::inner_views(inputs), api::inner_views(outputs),
                                              queue == nullptr ? nullptr : queue->state_->queue.get()));
}

ViewCounts Context::view_counts() const { return state_->context.view_counts(); }

}  // namespace hone
