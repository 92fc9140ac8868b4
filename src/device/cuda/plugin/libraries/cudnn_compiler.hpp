// cuDNN's plans of convolutions on one GPU, compiled also ahead.
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

  /// The engine configurations of a convolution, best first: CudnnGraph::recommended(), or swept(). Thrown
  /// where cuDNN refuses the convolution.
  std::vector<std::string> configs(const CudnnConvolution& convolution, bool swept);
  /// Starts compiling configurations in the background, unless that has been asked for before.
  engine::Preparation start(const CudnnConvolution& convolution, const std::vector<std::string>& configs);
  /// The plan, kept while anybody holds it, and for long after; waits for it. Environment error when cuDNN
  /// refuses the configuration.
  std::shared_ptr<const CudnnPlan> plan(const CudnnConvolution& convolution, std::string_view config);

 private:
  std::shared_ptr<const PlanCompiler::Request> request(const CudnnConvolution& convolution,
                                                       std::string_view config);

  /// Handles that make plans never get a stream, so nothing that they do meets a capture.
  CudnnHandles makers_;
  CudnnHandles runners_;
  /// Ends first, with the plans that it keeps.
  PlanCompiler compiler_;
};

}  // namespace hone::device::cuda
