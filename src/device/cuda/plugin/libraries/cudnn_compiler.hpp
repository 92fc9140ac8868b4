// Plans of cuDNN for convolutions on one GPU, which can also be compiled in advance.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "device/cuda/plugin/libraries/cudnn.hpp"
#include "device/cuda/plugin/libraries/plan_compiler.hpp"
#include "engine/kernel.hpp"

namespace hone::device::cuda {

/// Several threads may use it at the same time.
class CudnnCompiler {
 public:
  explicit CudnnCompiler(CUcontext context) : makers_(context), runners_(context) {}

  /// The engine configurations of a convolution, best first: CudnnGraph::recommended(), or swept(). Throws if
  /// cuDNN refuses the convolution.
  std::vector<std::string> configs(const CudnnConvolution& convolution, bool swept);
  /// Starts compiling configurations in the background, except those that were already requested.
  engine::Preparation start(const CudnnConvolution& convolution, const std::vector<std::string>& configs);
  /// Returns the plan, waiting for it if necessary. The plan lives while it is held, and usually long after
  /// that. Environment error if cuDNN refuses the configuration.
  std::shared_ptr<const CudnnPlan> plan(const CudnnConvolution& convolution, std::string_view config);

 private:
  std::shared_ptr<const PlanCompiler::Request> request(const CudnnConvolution& convolution,
                                                       std::string_view config);

  /// Handles for making plans never get a stream, so nothing that they do interferes with a capture.
  CudnnHandles makers_;
  CudnnHandles runners_;
  /// Declared last so that it is destroyed first, together with its plans.
  PlanCompiler compiler_;
};

}  // namespace hone::device::cuda
