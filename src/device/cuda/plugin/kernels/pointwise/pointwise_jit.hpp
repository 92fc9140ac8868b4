// Compiles pointwise chains at run time with NVRTC.
#pragma once

#include <memory>
#include <span>
#include <stdexcept>
#include <string>

#include "device/cuda/plugin/kernels/common/launch_options.hpp"
#include "device/cuda/plugin/kernels/pointwise/pointwise_program.hpp"

namespace hone::device::cuda {

/// A CUDA runtime call failed.
struct PointwiseLoadError : std::runtime_error {
  explicit PointwiseLoadError(cudaError_t error)
      : std::runtime_error(cudaGetErrorString(error)), status(error) {}
  cudaError_t status;
};

/// A compiled chain for one geometry. Making it again is cheap, because the process keeps compiled code by
/// source and architecture.
class PointwiseKernel {
 public:
  /// `architecture` is 90 for sm_90. Throws std::invalid_argument if the program is malformed or does not
  /// compile, PointwiseLoadError if the runtime cannot load it, and std::runtime_error with the compiler's
  /// message if this machine cannot compile.
  PointwiseKernel(const PointwiseProgram& program, const PointwiseGeometry& geometry, int architecture);

  /// Returns cudaErrorMisalignedAddress if the geometry promised aligned pointers and one is not. An output
  /// may share memory with an operand of the same strides.
  cudaError_t launch(std::span<const void* const> inputs, std::span<void* const> outputs,
                     const LaunchOptions& options) const;

  const PointwiseSource& source() const { return source_; }

 private:
  PointwiseSource source_;
  size_t inputs_;
  size_t outputs_;
  cudaKernel_t kernel_ = nullptr;
};

/// The machine code of a source for sm_`architecture`. Throws std::runtime_error with the compiler's message.
std::string compile_pointwise(const std::string& source, int architecture);

}  // namespace hone::device::cuda
