// Kernels that read or write single elements, or slices, at indexed places. Elements have 1, 2, 4 or 8 bytes.
// Indices are int32 or int64 (index_bytes 4 or 8); negative ones count from the end, and those outside the
// axis are clamped.
#pragma once

#include <vector>

#include "device/cuda/plugin/kernels/common/launch_options.hpp"

namespace hone::device::cuda {

/// The largest number of dimensions of the indices, and of indices in one tuple.
constexpr int kMostIndexed = 8;

/// One index for each element. For the element at coordinates o of the indices, the index replaces one
/// coordinate of the data.
struct ElementPicks {
  std::vector<int64_t> sizes;    ///< of the indices
  std::vector<int64_t> strides;  ///< of the data; 0 for the coordinate that the index replaces
  int64_t axis_size = 1;
  int64_t axis_stride = 1;
};

/// One tuple of indices for each slice of contiguous elements. A tuple holds the slice's coordinates in the
/// data's first dimensions after the batch.
struct SlicePicks {
  std::vector<int64_t> sizes;    ///< of the data, one for each index of a tuple
  std::vector<int64_t> strides;  ///< of the data, one for each index of a tuple
  int64_t tuples = 1;
  int64_t tuples_per_batch = 1;
  int64_t batch_stride = 0;
  int64_t slice = 1;  ///< elements of a slice
};

cudaError_t gather_elements(const void* from, const void* indices, size_t index_bytes, void* to, size_t bytes,
                            const ElementPicks& picks, const LaunchOptions& options);
cudaError_t gather_slices(const void* from, const void* indices, size_t index_bytes, void* to, size_t bytes,
                          const SlicePicks& picks, const LaunchOptions& options);

/// Writes `from`, which is dense in the order of the indices, into the data `to`. If an index occurs twice,
/// one of its values remains.
cudaError_t scatter_elements(const void* from, const void* indices, size_t index_bytes, void* to,
                             size_t bytes, const ElementPicks& picks, const LaunchOptions& options);
cudaError_t scatter_slices(const void* from, const void* indices, size_t index_bytes, void* to, size_t bytes,
                           const SlicePicks& picks, const LaunchOptions& options);

}  // namespace hone::device::cuda
