// See session.hpp.
#include "backend/tensorrt/plugin/library/session.hpp"

#include <algorithm>

#include "base/clock.hpp"
#include "base/error.hpp"

namespace hone::backend::tensorrt {
namespace {

using nvinfer1::DataType;
using tensor::DType;
using tensor::Tensor;

DType dtype_of(DataType type, const std::string& name) {
  switch (type) {
    case DataType::kFLOAT: return DType::kFloat32;
    case DataType::kHALF: return DType::kFloat16;
    case DataType::kINT8: return DType::kInt8;
    case DataType::kINT32: return DType::kInt32;
    case DataType::kBOOL: return DType::kBool;
    case DataType::kUINT8: return DType::kUInt8;
#if NV_TENSORRT_MAJOR >= 10
    case DataType::kBF16: return DType::kBFloat16;
    case DataType::kINT64: return DType::kInt64;
#endif
    default: break;
  }
  fail_bad_input("'{}' is of a type of TensorRT that hone does not have ({})", name, static_cast<int>(type));
}

nvinfer1::Dims to_dims(const tensor::Shape& shape) {
  nvinfer1::Dims dims{};
  dims.nbDims = static_cast<int32_t>(std::min<size_t>(shape.size(), nvinfer1::Dims::MAX_DIMS));
  for (int32_t i = 0; i < dims.nbDims; ++i)
    dims.d[i] = static_cast<std::remove_reference_t<decltype(dims.d[0])>>(shape[static_cast<size_t>(i)]);
  return dims;
}

tensor::Shape to_shape(const nvinfer1::Dims& dims) { return {dims.d, dims.d + std::max(dims.nbDims, 0)}; }

/// Converts the tensor to the type that the engine takes. Bad input if a number does not fit.
Tensor as_bound(const Tensor& tensor, DType wanted, const std::string& name) {
  if (tensor.dtype() == wanted) return tensor;
  if (tensor.dtype() == DType::kInt64 && wanted == DType::kInt32) {
    for (const int64_t value : tensor.values<int64_t>()) {
      if (value < INT32_MIN || value > INT32_MAX)
        fail_bad_input("input '{}' holds {}, and TensorRT {} has no 64-bit integers", name, value,
                       NV_TENSORRT_MAJOR);
    }
  }
  return tensor.cast(wanted);
}

}  // namespace

int find_profile(const nvinfer1::ICudaEngine& engine, std::span<const Port> inputs,
                 std::span<const tensor::Shape> shapes) {
  const auto holds = [&](int profile, size_t input) {
    const char* name = inputs[input].name.c_str();
    const auto fixed = to_shape(engine.getTensorShape(name));
    if (std::none_of(fixed.begin(), fixed.end(), [](int64_t dim) { return dim < 0; }))
      return fixed == shapes[input];
    const auto low = to_shape(engine.getProfileShape(name, profile, nvinfer1::OptProfileSelector::kMIN));
    const auto high = to_shape(engine.getProfileShape(name, profile, nvinfer1::OptProfileSelector::kMAX));
    const tensor::Shape& shape = shapes[input];
    if (low.size() != shape.size() || high.size() != shape.size()) return false;
    for (size_t i = 0; i < shape.size(); ++i) {
      if (shape[i] < low[i] || shape[i] > high[i]) return false;
    }
    return true;
  };
  for (int profile = 0; profile < engine.getNbOptimizationProfiles(); ++profile) {
    bool all = true;
    for (size_t i = 0; all && i < inputs.size(); ++i) all = holds(profile, i);
    if (all) return profile;
  }
  return -1;
}

Refusal unfit_for_binding(const nvinfer1::ICudaEngine& engine, std::span<const Port> inputs,
                          std::span<const Port> outputs) {
  for (const auto ports : {inputs, outputs}) {
    for (const Port& port : ports) {
      const DType type = dtype_of(engine.getTensorDataType(port.name.c_str()), port.name);
      if (type != port.dtype)
        return fmt::format("'{}' is {}, which TensorRT {} has as {}", port.name,
                           tensor::dtype_name(port.dtype), NV_TENSORRT_MAJOR, tensor::dtype_name(type));
    }
  }
  return {};
}

#if NV_TENSORRT_MAJOR >= 10
void* OpenOutput::reallocateOutputAsync(const char* /*name*/, void* /*current*/, uint64_t size,
                                        uint64_t /*alignment*/, cudaStream_t /*stream*/) {
  return grow(size);
}
#endif
#if NV_TENSORRT_MAJOR < 11
void* OpenOutput::reallocateOutput(const char* /*name*/, void* /*current*/, uint64_t size,
                                   uint64_t /*alignment*/) noexcept {
  return grow(size);
}
#endif

void* OpenOutput::grow(uint64_t size) noexcept {
  try {
    if (memory_.size() < size || memory_.address() == 0) memory_ = DeviceMemory(size);
    return memory_.get();
  } catch (const std::exception&) {
    return nullptr;  // the engine then reports a failed run
  }
}

void OpenOutput::notifyShape(const char* /*name*/, const nvinfer1::Dims& dims) noexcept {
  shape_ = to_shape(dims);
}

size_t Session::Bound::bytes() const {
  return static_cast<size_t>(tensor::element_count(shape)) * tensor::dtype_size(dtype_of(type, port.name));
}

Session::Session(std::shared_ptr<const LoadedPlan> plan, std::span<const Port> inputs,
                 std::span<const Port> outputs, std::vector<tensor::Shape> shapes,
                 std::span<const CUdeviceptr> given)
    : plan_(std::move(plan)), shapes_(std::move(shapes)) {
  Library& library = *plan_->library;
  context_.reset(plan_->engine->createExecutionContext());
  if (context_ == nullptr)
    fail_environment("TensorRT has no memory for another context: {}", library.logger().take_errors());
  const int profile = find_profile(*plan_->engine, inputs, shapes_);
  if (profile < 0) fail_bad_input("the plan was not built for inputs of these shapes");
  // The first context of an engine already has the first profile.
  if (context_->getOptimizationProfile() != profile &&
      !context_->setOptimizationProfileAsync(profile, stream_.get()))
    fail_environment("TensorRT does not change to profile {}: {}", profile, library.logger().take_errors());
  stream_.synchronize();
  bind_inputs(inputs, given);
  bind_outputs(outputs);
  // The first run after a change of shapes initialises memory, which a capture cannot contain.
  enqueue();
  stream_.synchronize();
  capture();
}

void Session::bind_inputs(std::span<const Port> inputs, std::span<const CUdeviceptr> given) {
  for (size_t i = 0; i < inputs.size(); ++i) {
    const char* name = inputs[i].name.c_str();
    Bound bound{inputs[i], plan_->engine->getTensorDataType(name), shapes_[i], {}, {}, {}};
    if (plan_->engine->getTensorLocation(name) == nvinfer1::TensorLocation::kHOST)
      fail_bad_input("input '{}' says the shape of others, which hone does not bind for TensorRT",
                     inputs[i].name);
    if (!context_->setInputShape(name, to_dims(shapes_[i])))
      fail_bad_input("TensorRT does not take input '{}' as {}: {}", inputs[i].name,
                     tensor::shape_text(shapes_[i]), plan_->library->logger().take_errors());
    if (given.empty()) {
      bound.memory = DeviceMemory(bound.bytes());
      check(driver().cuMemsetD8Async(bound.memory.address(), 0, std::max<size_t>(bound.memory.size(), 1),
                                     stream_.get()),
            "clearing an input");
    }
    context_->setTensorAddress(name, given.empty() ? bound.memory.get() : reinterpret_cast<void*>(given[i]));
    inputs_.push_back(std::move(bound));
  }
  const char* missing = nullptr;
  if (context_->inferShapes(1, &missing) != 0)
    fail_bad_input("TensorRT does not know the shapes of a run{}: {}",
                   missing == nullptr ? "" : fmt::format(", '{}' is missing", missing),
                   plan_->library->logger().take_errors());
}

void Session::bind_outputs(std::span<const Port> outputs) {
  for (const Port& output : outputs) {
    const char* name = output.name.c_str();
    Bound bound{
        output, plan_->engine->getTensorDataType(name), to_shape(context_->getTensorShape(name)), {}, {}, {}};
    const bool open =
        std::any_of(bound.shape.begin(), bound.shape.end(), [](int64_t dim) { return dim < 0; });
    if (open) {
      bound.open = std::make_unique<OpenOutput>();
      context_->setOutputAllocator(name, bound.open.get());
    } else {
      bound.memory = DeviceMemory(bound.bytes());
      context_->setTensorAddress(name, bound.memory.get());
    }
    outputs_.push_back(std::move(bound));
  }
}

void Session::enqueue() {
  if (!context_->enqueueV3(stream_.get()))
    fail_environment("a run of TensorRT failed: {}", plan_->library->logger().take_errors());
}

void Session::capture() {
  // Memory for outputs whose shapes depend on data is requested in the middle of a run.
  if (std::any_of(outputs_.begin(), outputs_.end(),
                  [](const Bound& output) { return output.open != nullptr; }))
    return;
  graph_ = std::make_unique<CapturedGraph>(stream_, [&] { return context_->enqueueV3(stream_.get()); });
  plan_->library->logger().take_errors();
}

void Session::upload(std::span<const Tensor> inputs) {
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Bound& bound = inputs_[i];
    const Tensor tensor = as_bound(inputs[i], dtype_of(bound.type, bound.port.name), bound.port.name);
    if (tensor.byte_size() == 0) continue;
    check(
        driver().cuMemcpyHtoDAsync(bound.memory.address(), tensor.bytes(), tensor.byte_size(), stream_.get()),
        "a copy to the GPU");
    // A converted tensor is freed at the end of the iteration, so its copy must have finished.
    if (tensor.bytes() != inputs[i].bytes()) stream_.synchronize();
  }
  stream_.synchronize();
}

void Session::launch() {
  if (captured()) return graph_->launch(stream_);
  enqueue();
}

void Session::launch_on(CUstream stream) {
  if (captured()) return graph_->launch(stream);
  if (!context_->enqueueV3(stream))
    fail_environment("a run of TensorRT failed: {}", plan_->library->logger().take_errors());
}

std::vector<tensor::TensorView> Session::output_views(tensor::Place place) const {
  std::vector<tensor::TensorView> views;
  for (const Bound& bound : outputs_) {
    tensor::TensorView& view = views.emplace_back();
    view.dtype = dtype_of(bound.type, bound.port.name);
    view.shape = bound.shape;
    view.buffer.place = place;
    view.buffer.data = static_cast<std::byte*>(bound.memory.get());
    view.buffer.bytes = static_cast<int64_t>(bound.open != nullptr ? 0 : bound.bytes());
  }
  return views;
}

std::vector<Tensor> Session::download() {
  stream_.synchronize();
  std::vector<Tensor> results;
  for (const Bound& bound : outputs_) {
    Tensor tensor(dtype_of(bound.type, bound.port.name),
                  bound.open != nullptr ? bound.open->shape() : bound.shape);
    const CUdeviceptr from = bound.open != nullptr ? bound.open->address() : bound.memory.address();
    if (tensor.byte_size() > 0)
      check(driver().cuMemcpyDtoHAsync(tensor.mutable_bytes(), from, tensor.byte_size(), stream_.get()),
            "a copy from the GPU");
    stream_.synchronize();
    results.push_back(tensor.dtype() == bound.port.dtype ? tensor : tensor.cast(bound.port.dtype));
  }
  return results;
}

void Session::make_pinned() {
  for (std::vector<Bound>* tensors : {&inputs_, &outputs_}) {
    for (Bound& bound : *tensors) {
      if (bound.open != nullptr || bound.pinned != nullptr) continue;
      bound.pinned = std::make_unique<PinnedMemory>(bound.bytes());
      copy(bound, /*to_device=*/false);
    }
  }
  stream_.synchronize();
}

void Session::copy(const Bound& tensor, bool to_device) const {
  if (tensor.pinned == nullptr || tensor.bytes() == 0) return;
  check(to_device ? driver().cuMemcpyHtoDAsync(tensor.memory.address(), tensor.pinned->get(), tensor.bytes(),
                                               stream_.get())
                  : driver().cuMemcpyDtoHAsync(tensor.pinned->get(), tensor.memory.address(), tensor.bytes(),
                                               stream_.get()),
        "a copy");
}

double Session::time_copies(std::vector<Bound>& tensors, bool to_device) {
  begin_.record(stream_);
  for (const Bound& tensor : tensors) copy(tensor, to_device);
  end_.record(stream_);
  end_.synchronize();
  return Event::milliseconds_between(begin_, end_);
}

double Session::time_device(bool cold) {
  if (captured() && timed_ == nullptr) {
    timed_ = std::make_unique<CapturedGraph>(stream_, [&] {
      begin_.record(stream_, /*captured=*/true);
      const bool enqueued = context_->enqueueV3(stream_.get());
      end_.record(stream_, /*captured=*/true);
      return enqueued;
    });
    // The first launch uploads the graph to the device.
    if (timed_->ok()) timed_->launch(stream_);
    stream_.synchronize();
  }
  if (cold) {
    const DeviceMemory flood(static_cast<size_t>(2 * plan_->gpu->l2_bytes()));
    check(driver().cuMemsetD8Async(flood.address(), 0, flood.size(), stream_.get()), "emptying the caches");
    stream_.synchronize();
  }
  if (timed_ != nullptr && timed_->ok()) {
    timed_->launch(stream_);
  } else {
    begin_.record(stream_);
    enqueue();
    end_.record(stream_);
  }
  stream_.synchronize();
  return Event::milliseconds_between(begin_, end_);
}

RunPhases Session::time_phases(bool cold) {
  make_pinned();
  RunPhases phases;
  // The timed copies then restore the uploaded values.
  for (const Bound& input : inputs_) copy(input, /*to_device=*/false);
  stream_.synchronize();
  phases.h2d_ms = time_copies(inputs_, /*to_device=*/true);
  phases.device_ms = time_device(cold);
  const auto start = base::Clock::now();
  launch();
  phases.enqueue_ms = base::milliseconds_between(start, base::Clock::now());
  stream_.synchronize();
  phases.d2h_ms = time_copies(outputs_, /*to_device=*/false);
  return phases;
}

void Session::launch_with_transfers() {
  make_pinned();
  for (const Bound& input : inputs_) copy(input, /*to_device=*/true);
  launch();
  for (const Bound& output : outputs_) copy(output, /*to_device=*/false);
}

}  // namespace hone::backend::tensorrt
