// Kernels that read or write single elements, or slices, at places that indices name. Elements have 1, 2, 4
// or 8 bytes; indices are int32 or int64 (index_bytes 4 or 8), negative ones count from the end, and those
// beyond it are clamped.
#pragma once

#include <vector>

#include "device/cuda/plugin/kernels/common/launch_options.hpp"

namespace hone::device::cuda {

/// Dimensions that indices may have, and indices in one tuple.
constexpr int kMostIndexed = 8;

/// One index per element: of the element at coordinates o of the indices it replaces one coordinate of the
/// data.
struct ElementPicks {
  std::vector<int64_t> sizes;    ///< of the indices
  std::vector<int64_t> strides;  ///< of the data, 0 where the index replaces the coordinate
  int64_t axis_size = 1;
  int64_t axis_stride = 1;
};

/// One tuple of indices per slice of neighbours: the first coordinates of the data after its batch.
struct SlicePicks {
  std::vector<int64_t> sizes;    ///< of the data, one per index of a tuple
  std::vector<int64_t> strides;  ///< of the data, likewise
  int64_t tuples = 1;
  int64_t tuples_per_batch = 1;
  int64_t batch_stride = 0;
  int64_t slice = 1;  ///< elements
};

cudaError_t gather_elements(const void* from, const void* indices, size_t index_bytes, void* to, size_t bytes,
                            const ElementPicks& picks, const LaunchOptions& options);
cudaError_t gather_slices(const void* from, const void* indices, size_t index_bytes, void* to, size_t bytes,
                          const SlicePicks& picks, const LaunchOptions& options);

/// Writes `from`, dense as the indices are, into the data `to`. Where an index comes twice, one of its values
/// is left.
cudaError_t scatter_elements(const void* from, const void* indices, size_t index_bytes, void* to,
                             size_t bytes, const ElementPicks& picks, const LaunchOptions& options);
cudaError_t scatter_slices(const void* from, const void* indices, size_t index_bytes, void* to, size_t bytes,
                           const SlicePicks& picks, const LaunchOptions& options);

}  // namespace hone::device::cuda
