// A normalization of rows, as LayerNormalization or a region rms_normalization has it.
#pragma once

#include "device/cuda/plugin/tactics/region_parts.hpp"
#include "device/cuda/plugin/tactics/tactics.hpp"

namespace hone::device::cuda {

struct RowNormalization {
  /// Positions of the rows, their scale and what is added, among the inputs of the step; -1 for none.
  int x = 0;
  int scale = -1;
  int shift = -1;
  /// True if the mean is subtracted.
  bool centers = true;
  float epsilon = 0;
  /// True if scale and shift are constants.
  bool constants = false;
  int64_t rows = 0;
  int64_t columns = 0;
};

/// Empty when it is one, and filled in.
Refusal read_row_normalization(const engine::StepRequest& request, RowNormalization& out);

/// The arrangement that its scale and shift must have; that of the rows is up to the caller.
void arrange_parameters(const engine::StepRequest& request, const RowNormalization& norm,
                        std::vector<engine::TensorDesc>& inputs);

/// The floats of an input; null for a position of none.
const float* floats_of(std::span<const void* const> inputs, int position);

}  // namespace hone::device::cuda
