// One execution context of an engine for inputs of fixed
// shapes: its memory, its stream and its CUDA graphs.
#pragma once

#include <NvInfer.h>

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "backend/backend.hpp"
#include "backend/tensorrt/plugin/library/driver.hpp"
#include "backend/tensorrt/plugin/library/library.hpp"
#include "tensor/tensor.hpp"
#include "tensor/tensor_view.hpp"

namespace hone::backend::tensorrt {

/// An engine and the objects that run it; shared by its sessions.
struct LoadedPlan {
  std::shared_ptr<Library> library;
  std::shared_ptr<const Gpu> gpu;
  /// Must outlive the engine.
  std::unique_ptr<nvinfer1::IRuntime> runtime;
  std::unique_ptr<nvinfer1::ICudaEngine> engine;
  int64_t plan_bytes = 0;
};

/// An input or output in the caller's form.
struct Port {
  std::string name;
  tensor::DType dtype = tensor::DType::kFloat32;
};

/// The reason why a session cannot use the caller's memory for these: their types differ from the engine's,
/// or their shapes depend on data.
Refusal unfit_for_binding(const nvinfer1::ICudaEngine& engine, std::span<const Port> inputs,
                          std::span<const Port> outputs);

/// The index of the profile whose ranges contain these shapes, in the order of `inputs`; -1 if there is none.
int find_profile(const nvinfer1::ICudaEngine& engine, std::span<const Port> inputs,
                 std::span<const tensor::Shape> shapes);

/// Memory for an output whose shape depends on data, allocated when the engine asks for it.
class OpenOutput final : public nvinfer1::IOutputAllocator {
 public:
#if NV_TENSORRT_MAJOR >= 10
  void* reallocateOutputAsync(const char* name, void* current, uint64_t size, uint64_t alignment,
                              cudaStream_t stream) override;
#endif
#if NV_TENSORRT_MAJOR < 11
  void* reallocateOutput(const char* name, void* current, uint64_t size,
                         uint64_t alignment) noexcept override;
#endif
  void notifyShape(const char* name, const nvinfer1::Dims& dims) noexcept override;

  CUdeviceptr address() const { return memory_.address(); }
  const tensor::Shape& shape() const { return shape_; }

 private:
  void* grow(uint64_t size) noexcept;

  DeviceMemory memory_;
  tensor::Shape shape_;
};

class Session {
 public:
  /// Environment error if memory or a context is not available; bad input if no profile contains the shapes.
  /// `given` are addresses on the GPU from which the inputs are read; they must hold valid values. Without
  /// them, the session allocates memory for its inputs.
  Session(std::shared_ptr<const LoadedPlan> plan, std::span<const Port> inputs, std::span<const Port> outputs,
          std::vector<tensor::Shape> shapes, std::span<const CUdeviceptr> given = {});

  const std::vector<tensor::Shape>& shapes() const { return shapes_; }
  bool captured() const { return graph_ != nullptr && graph_->ok(); }
  /// Copies tensors to the engine's inputs, converted to their types, and waits. Bad input for an integer
  /// that does not fit.
  void upload(std::span<const tensor::Tensor> inputs);
  /// Submits one run to the stream.
  void launch();
  /// Submits one run to a stream of the caller.
  void launch_on(CUstream stream);
  void wait() const { stream_.synchronize(); }
  /// Returns the outputs of the previous run in the caller's types. Waits.
  std::vector<tensor::Tensor> download();
  RunPhases time_phases(bool cold);
  /// Submits a run together with copies of the inputs from pinned memory and of the outputs to it.
  void launch_with_transfers();
  const Stream& stream() const { return stream_; }
  nvinfer1::IExecutionContext& context() { return *context_; }
  /// Submits a run as calls, even if a graph was captured.
  void enqueue();
  /// The memory of the outputs, in the caller's order and the engine's types. Outputs whose shapes depend on
  /// data have no address.
  std::vector<tensor::TensorView> output_views(tensor::Place place) const;

 private:
  struct Bound {
    Port port;
    nvinfer1::DataType type;
    tensor::Shape shape;
    DeviceMemory memory;
    std::unique_ptr<PinnedMemory> pinned;
    std::unique_ptr<OpenOutput> open;
    size_t bytes() const;
  };

  void bind_inputs(std::span<const Port> inputs, std::span<const CUdeviceptr> given);
  void bind_outputs(std::span<const Port> outputs);
  void capture();
  double time_copies(std::vector<Bound>& tensors, bool to_device);
  double time_device(bool cold);
  void copy(const Bound& tensor, bool to_device) const;
  void make_pinned();

  std::shared_ptr<const LoadedPlan> plan_;
  std::vector<tensor::Shape> shapes_;
  Stream stream_;
  std::unique_ptr<nvinfer1::IExecutionContext> context_;
  std::vector<Bound> inputs_;
  std::vector<Bound> outputs_;
  std::unique_ptr<CapturedGraph> graph_;
  /// The run between two events in the graph; events around
  /// a launch would include the time from host to device.
  Event begin_;
  Event end_;
  std::unique_ptr<CapturedGraph> timed_;
};

}  // namespace hone::backend::tensorrt
