// The base of our loops that sum products of bytes: it reads the operands of a step, and writes its results.
#pragma once

#include <memory>
#include <vector>

#include "device/cpu/quantized/sums_problem.hpp"

namespace hone::device::cpu {

/// How sums become bytes; no scales for sums that stay int32.
struct Requantization {
  /// One for each column of all groups.
  std::vector<float> scales;
  float zero_point = 0;
  tensor::DType dtype = tensor::DType::kInt32;
};

class SumsKernel : public engine::Kernel {
 public:
  int64_t scratch_bytes() const { return shared_bytes() + threads_ * thread_bytes(); }

 protected:
  SumsKernel(SumsProblem problem, const BytePositions& at, Requantization requantization);

  static int64_t aligned(int64_t bytes) { return (bytes + 63) / 64 * 64; }
  /// Scratch memory that all threads read, and that each has for itself.
  virtual int64_t shared_bytes() const = 0;
  virtual int64_t thread_bytes() const = 0;

  int32_t a_zero(const engine::Run& run) const;
  int32_t b_zero(const engine::Run& run, int64_t column) const;
  int32_t bias(const engine::Run& run, int64_t column) const;

  /// Sums of the columns from `column` on, of all groups, become results of row `row` of all stacks; `floats`
  /// has room for `count`.
  void store(const engine::Run& run, int64_t row, int64_t column, const int32_t* sums, int64_t count,
             float* floats) const;

  SumsProblem problem_;
  BytePositions at_;
  Requantization requantization_;
  int64_t threads_;
};

/// Makes a kernel that computes by tiles. `packed`: the second operand as SumsProblem packs it; null where it
/// is computed.
std::shared_ptr<const SumsKernel> make_tiled_sums(SumsProblem problem, const BytePositions& at,
                                                  Requantization requantization, const std::byte* packed);
/// All channels of a pixel at once, of a problem that is depthwise.
std::shared_ptr<const SumsKernel> make_depthwise_sums(SumsProblem problem, const BytePositions& at,
                                                      Requantization requantization);

}  // namespace hone::device::cpu
