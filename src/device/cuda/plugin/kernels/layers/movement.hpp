// Kernels that move elements of 1, 2, 4 or 8 bytes without
// interpreting them, and runs of elements in 16 bytes.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "device/cuda/plugin/kernels/common/launch_options.hpp"

namespace hone::device::cuda {

/// Copies `rows` blocks of `block` bytes: block i is copied from `from` + i * from_stride to `to` + i *
/// to_stride. Strides are in bytes.
cudaError_t copy_blocks(const void* from, int64_t from_stride, void* to, int64_t to_stride, int64_t block,
                        int64_t rows, const LaunchOptions& options);

/// An input of concatenate(): `bytes` bytes of each row, dense.
struct ConcatPart {
  const void* from = nullptr;
  int64_t bytes = 0;
  int64_t at = 0;  ///< byte offset in a row of the result
};

/// Copies parts to `rows` rows of `row_bytes`, up to 32 parts in each launch.
cudaError_t concatenate(std::span<const ConcatPart> parts, void* to, int64_t row_bytes, int64_t rows,
                        const LaunchOptions& options);

/// A dense output. Its element at coordinates o is the input's element at offset + sum of o[d] * strides[d].
/// Covers slice, transpose, expand and depth-to-space. Strides may be 0 or negative.
struct StridedView {
  std::vector<int64_t> sizes;
  std::vector<int64_t> strides;
  int64_t offset = 0;
};

/// The same elements without dimensions of size 1, and with adjacent dimensions merged if possible.
StridedView merged(const StridedView& view);

/// The same bytes as fewer, wider elements of up to 16 bytes, if these are contiguous in the input and
/// aligned to their size. `addresses` is the OR of the input's and output's addresses. `bytes` is the size of
/// an element before and after.
StridedView widened(const StridedView& view, uint64_t addresses, size_t* bytes);

/// The most dimensions of a merged view, and of an image that is padded.
constexpr int kMostMoved = 8;

cudaError_t gather_strided(const void* from, void* to, size_t bytes, const StridedView& view,
                           const LaunchOptions& options);

/// How coordinates outside the input are read.
enum class PadMode : uint8_t { kConstant, kEdge, kReflect, kWrap };

/// Pads a dense row-major input of `sizes` with `begin` elements before it, and after it up to the output's
/// sizes; negative padding crops. `value` points to one element on the host, which kConstant uses.
cudaError_t pad(const void* from, void* to, size_t bytes, PadMode mode, const std::vector<int64_t>& sizes,
                const std::vector<int64_t>& begin, const std::vector<int64_t>& output_sizes,
                const void* value, const LaunchOptions& options);

/// to[o][i][k] = from[o][indices[i]][k] for [outer][axis][inner]. Negative indices count from the end; those
/// outside the axis are clamped. Indices are int32 or int64 (index_bytes 4 or 8).
cudaError_t gather(const void* from, const void* indices, size_t index_bytes, void* to, size_t bytes,
                   int64_t outer, int64_t axis, int64_t inner, int64_t count, const LaunchOptions& options);

}  // namespace hone::device::cuda
