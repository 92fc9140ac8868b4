// Pointwise chains compiled at run time with NVRTC.
#pragma once

#include <memory>
#include <span>
#include <stdexcept>
#include <string>

#include "device/cuda/plugin/kernels/common/launch_options.hpp"
#include "device/cuda/plugin/kernels/pointwise/pointwise_program.hpp"

namespace hone::device::cuda {

/// A call of the CUDA runtime's that failed.
struct PointwiseLoadError : std::runtime_error {
  explicit PointwiseLoadError(cudaError_t error)
      : std::runtime_error(cudaGetErrorString(error)), status(error) {}
  cudaError_t status;
};

/// A compiled chain, bound to a geometry. Cheap to make again: compiled code is kept for the process, by
/// source and architecture.
class PointwiseKernel {
 public:
  /// `architecture` is 90 for sm_90. Throws std::invalid_argument for a
  /// program that is malformed or does not compile, PointwiseLoadError where the
  /// runtime cannot load it, std::runtime_error with the compiler's words where this machine cannot compile.
  PointwiseKernel(const PointwiseProgram& program, const PointwiseGeometry& geometry, int architecture);

  /// cudaErrorMisalignedAddress when the geometry promised aligned pointers that are not. An output may share
  /// the memory of an operand that is arranged as it is.
  cudaError_t launch(std::span<const void* const> inputs, std::span<void* const> outputs,
                     const LaunchOptions& options) const;

  const PointwiseSource& source() const { return source_; }

 private:
  PointwiseSource source_;
  size_t inputs_;
  size_t outputs_;
  cudaKernel_t kernel_ = nullptr;
};

/// The machine code of a source for sm_`architecture`. Throws std::runtime_error with the compiler's words.
std::string compile_pointwise(const std::string& source, int architecture);

}  // namespace hone::device::cuda
