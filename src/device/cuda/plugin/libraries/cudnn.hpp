// cuDNN 9's graph API as three plain classes: a descriptor, a convolution with fused pointwise operations,
// and an execution plan. Names of attributes and shapes follow the reference of the cuDNN backend API.
#pragma once

#include <cudnn.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "device/cuda/plugin/libraries/cudnn_handles.hpp"
#include "tensor/precision.hpp"

namespace hone::device::cuda {

/// "9.19.0", the version of the loaded library.
std::string cudnn_version();

/// One backend descriptor.
class CudnnDescriptor {
 public:
  explicit CudnnDescriptor(cudnnBackendDescriptorType_t type);
  ~CudnnDescriptor();
  CudnnDescriptor(CudnnDescriptor&& other) noexcept;
  CudnnDescriptor& operator=(CudnnDescriptor&& other) noexcept;

  CudnnDescriptor& set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type, int64_t count,
                       const void* values);
  CudnnDescriptor& set(cudnnBackendAttributeName_t name, int64_t value);
  CudnnDescriptor& set(cudnnBackendAttributeName_t name, const std::vector<int64_t>& values);
  CudnnDescriptor& set(cudnnBackendAttributeName_t name, const CudnnDescriptor& value);
  CudnnDescriptor& set(cudnnBackendAttributeName_t name, cudnnDataType_t value);
  CudnnDescriptor& set_double(cudnnBackendAttributeName_t name, double value);
  CudnnDescriptor& set_handle(cudnnBackendAttributeName_t name, cudnnHandle_t handle);
  CudnnDescriptor& finalize();
  cudnnBackendDescriptor_t get() const { return descriptor_; }

 private:
  cudnnBackendDescriptor_t descriptor_ = nullptr;
};

/// One of the pointwise operations on the result of a convolution, in order.
struct CudnnPointwise {
  cudnnPointwiseMode_t mode;
  /// Id of the tensor that is the second operand; 0 for none.
  int64_t operand = 0;
  /// True if the operand has one value for each channel; otherwise it has the shape of the output.
  bool per_channel = false;
  /// Bounds of ReLU; `slope` is the factor of swish, the slope of ELU, or the negative slope of ReLU.
  double lower = 0;
  double upper = 0;
  double slope = 0;
  bool bounded = false;
};

/// y = pointwise(conv(x, w)): NHWC activations, KRSC weights, two spatial axes.
struct CudnnConvolution {
  tensor::Precision precision = tensor::Precision::kFp32;
  std::vector<int64_t> x;        // N, C, H, W
  std::vector<int64_t> w;        // K, C / groups, R, S
  std::vector<int64_t> y;        // N, K, P, Q
  std::vector<int64_t> strides;  // for each spatial axis
  std::vector<int64_t> dilations;
  std::vector<int64_t> pads_begin;
  std::vector<int64_t> pads_end;
  std::vector<CudnnPointwise> pointwise;
};

/// Ids of tensors in plans; pointwise operands follow.
enum CudnnTensorId : int64_t { kCudnnX = 1, kCudnnW = 2, kCudnnY = 3, kCudnnFirstOperand = 4 };

/// The operation graph of one convolution. Calling its methods or making a plan from it requires exclusive
/// use of the handle, which must outlive the graph.
class CudnnGraph {
 public:
  CudnnGraph(const CudnnConvolution& convolution, cudnnHandle_t handle);
  /// Engine configurations that the heuristics recommend, best first, as texts ("e3,k2=1,k5=0").
  /// Configurations that would round inputs below the requested precision are left out.
  std::vector<std::string> recommended() const;
  /// The recommended configurations, every other engine that accepts the graph, and the recommended ones with
  /// one knob changed at a time: tiles, stages, splits, clusters and all other knobs that an engine declares.
  std::vector<std::string> swept() const;
  const CudnnDescriptor& descriptor() const { return graph_; }
  cudnnHandle_t handle() const { return handle_; }

 private:
  cudnnHandle_t handle_;
  std::vector<CudnnDescriptor> parts_;
  CudnnDescriptor graph_;
  tensor::Precision precision_;
};

/// A compiled engine configuration.
class CudnnPlan {
 public:
  /// `config` is one of CudnnGraph::swept(). Environment error if cuDNN refuses it. `handles` are used for
  /// its execution and must outlive it.
  CudnnPlan(std::shared_ptr<const CudnnGraph> graph, std::string_view config, CudnnHandles& handles);
  int64_t workspace_bytes() const { return workspace_bytes_; }
  /// Submits the work to the stream. `ids` and `pointers` must contain every tensor that is not virtual.
  /// Several threads may execute it at the same time.
  void execute(cudaStream_t stream, const std::vector<int64_t>& ids, std::vector<void*> pointers,
               void* workspace) const;

 private:
  std::shared_ptr<const CudnnGraph> graph_;
  CudnnHandles& handles_;
  CudnnDescriptor plan_;
  int64_t workspace_bytes_ = 0;
};

}  // namespace hone::device::cuda
