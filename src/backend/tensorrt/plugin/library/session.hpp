// One execution context of an engine, for inputs of certain shapes: its memory, its stream and its CUDA
// graphs.
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

/// An engine and what runs it; shared by its sessions.
struct LoadedPlan {
  std::shared_ptr<Library> library;
  std::shared_ptr<const Gpu> gpu;
  /// Outlives the engine.
  std::unique_ptr<nvinfer1::IRuntime> runtime;
  std::unique_ptr<nvinfer1::ICudaEngine> engine;
  int64_t plan_bytes = 0;
};

/// An input or output as the caller has it.
struct Port {
  std::string name;
  tensor::DType dtype = tensor::DType::kFloat32;
};

/// Why a session cannot read and write these where a caller has them: types that the engine has otherwise,
/// and shapes that the data decide.
Refusal unfit_for_binding(const nvinfer1::ICudaEngine& engine, std::span<const Port> inputs,
                          std::span<const Port> outputs);

/// The profile whose ranges hold these shapes, by input name; -1 where none does.
int find_profile(const nvinfer1::ICudaEngine& engine, std::span<const Port> inputs,
                 std::span<const tensor::Shape> shapes);

/// The outputs of a run whose shapes the data decide: memory as the engine asks for it.
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
  /// Environment error where memory or a context is not to be had; bad input where no profile takes the
  /// shapes. `given`: addresses on the GPU that the inputs are read from, which hold values that may be
  /// computed with; without them the inputs get memory of the session's own.
  Session(std::shared_ptr<const LoadedPlan> plan, std::span<const Port> inputs, std::span<const Port> outputs,
          std::vector<tensor::Shape> shapes, std::span<const CUdeviceptr> given = {});

  const std::vector<tensor::Shape>& shapes() const { return shapes_; }
  bool captured() const { return graph_ != nullptr && graph_->ok(); }
  /// From the host to the engine's inputs, in their types; bad input for an integer that they do not hold.
  /// Waits.
  void upload(std::span<const tensor::Tensor> inputs);
  /// Hands one run over to the stream.
  void launch();
  /// The same to a stream of somebody else's.
  void launch_on(CUstream stream);
  void wait() const { stream_.synchronize(); }
  /// The outputs of the run before, in the caller's types. Waits.
  std::vector<tensor::Tensor> download();
  RunPhases time_phases(bool cold);
  /// Hands over a run between copies of the inputs from pinned memory and of the outputs to it.
  void launch_with_transfers();
  const Stream& stream() const { return stream_; }
  nvinfer1::IExecutionContext& context() { return *context_; }
  /// Hands a run over as calls, whatever was captured.
  void enqueue();
  /// Where the outputs lie, in the caller's order and the engine's types; those whose shapes the data decide
  /// have no address.
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
  /// The run between two events, which around a launch would hold the way to the device as well.
  Event begin_;
  Event end_;
  std::unique_ptr<CapturedGraph> timed_;
};

}  // namespace hone::backend::tensorrt
