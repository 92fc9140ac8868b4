// A normalization of rows, from LayerNormalization or an rms_normalization region.
#pragma once

#include "device/cuda/plugin/tactics/region_parts.hpp"
#include "device/cuda/plugin/tactics/tactics.hpp"

namespace hone::device::cuda {

struct RowNormalization {
  /// Indices of the rows, the scale and the shift among the step's inputs; -1 for none.
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

/// Returns an empty refusal if the step is such a normalization and was filled in.
Refusal read_row_normalization(const engine::StepRequest& request, RowNormalization& out);

/// Sets the required arrangement of scale and shift; the caller chooses that of the rows.
void arrange_parameters(const engine::StepRequest& request, const RowNormalization& norm,
                        std::vector<engine::TensorDesc>& inputs);

/// The floats of an input; null if the index is -1.
const float* floats_of(std::span<const void* const> inputs, int position);

}  // namespace hone::device::cuda
