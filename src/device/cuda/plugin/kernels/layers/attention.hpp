// Attention in one kernel: y = softmax(scale * q k' + masks) v. A block takes 16 to 64 rows of queries of one
// head and goes over its keys once, with the largest score and the sum of exponentials so far (Dao et al.,
// "FlashAttention", 2022). Scores never leave the registers, and operands are read where they lie.
#pragma once

#include <cstdint>

#include "base/refusal.hpp"
#include "device/cuda/plugin/kernels/common/launch_options.hpp"

namespace hone::device::cuda {

/// Where the matrices of an operand lie, in elements from its first: loop i over the heads moves by loops[i].
struct AttentionMatrix {
  static constexpr int kMostLoops = 5;
  int64_t offset = 0;
  int64_t loops[kMostLoops] = {};
  int64_t row = 0;     ///< from one row of it to the next
  int64_t column = 1;  ///< 1 but for masks
};

/// True if a mask is bools, and `value` replaces scores where it is `where`; else it is added.
struct AttentionFill {
  bool fills = false;
  bool where = false;
  float value = 0;
};

struct AttentionSize {
  static constexpr int kMostMasks = 4;
  static constexpr int kMostDepth = 128;

  /// Loops over the heads, the innermost last.
  int loops = 0;
  int64_t lengths[AttentionMatrix::kMostLoops] = {};
  int64_t rows = 0;
  int64_t keys = 0;
  int depth = 0;  ///< columns of q and k
  int width = 0;  ///< columns of v and y
  float scale = 1;
  bool guarded = false;  ///< a row without scores above minus infinity, or with a NaN, gives zeros
  AttentionMatrix q;
  AttentionMatrix k;  ///< a row for each key
  AttentionMatrix v;
  AttentionMatrix y;
  int masks = 0;
  AttentionMatrix mask[kMostMasks];
  AttentionFill fill[kMostMasks];

  int64_t heads() const;
};

struct AttentionArgs {
  const void* q = nullptr;
  const void* k = nullptr;
  const void* v = nullptr;
  /// Masks of float, or of bool where the mask fills.
  const void* masks[AttentionSize::kMostMasks] = {};
  void* y = nullptr;
};

/// The rotation of one row by its position, as rotary.hpp has it; of whole rows in runs of 16 bytes.
struct RowRotation {
  /// One element for each of the row; null where it stays as it is.
  const void* cosines = nullptr;
  const void* sines = nullptr;
};

/// One row that is appended to keys and one to values, which are caches then.
struct AppendedRow {
  /// The row of the caches that it becomes; counted from the end where it is negative.
  const int64_t* place = nullptr;
  const void* k = nullptr;
  const void* v = nullptr;
  /// The matrices of each head; only the offset and the loops count.
  AttentionMatrix k_heads;
  AttentionMatrix v_heads;
  /// The caches, AttentionArgs::k and v, to write to.
  void* k_cache = nullptr;
  void* v_cache = nullptr;
  /// They turn the queries, and k before it is appended: both or none. Halves of rows are whole runs then.
  RowRotation q_rotation;
  RowRotation k_rotation;
};

/// Why there is no kernel for this; empty when there is.
Refusal attention_refusal(const AttentionSize& size, const DeviceProperties& device);

/// Attention for half and bfloat16. `split`: 1, 2 or 4 warps share the keys of 16 rows, so that a block of
/// four warps has 64, 32 or 16 rows. The more blocks, the sooner few rows are done, and the more often keys
/// are read.
cudaError_t attention(const AttentionArgs& args, FloatType type, const AttentionSize& size, int split,
                      const LaunchOptions& options);

/// Why warpgroups have no kernel for this; empty when they have.
Refusal warpgroup_attention_refusal(const AttentionSize& size, const DeviceProperties& device);

/// The data that the warpgroups of a block share: nothing, where it has one of 64 rows; or it has two, which
/// share the keys of the same 64 rows, or read the same keys for 64 rows each.
enum class WarpgroupShares : int { kNothing, kRows, kKeys };

/// Attention by warpgroups that share that.
cudaError_t warpgroup_attention(const AttentionArgs& args, FloatType type, const AttentionSize& size,
                                int shares, const LaunchOptions& options);

/// Why there is no kernel of few rows for this; empty when there is.
Refusal row_attention_refusal(const AttentionSize& size, const DeviceProperties& device);

/// By `blocks` for each row, up to 8, that share its keys; more than one make a cluster.
cudaError_t row_attention(const AttentionArgs& args, FloatType type, const AttentionSize& size, int blocks,
                          const LaunchOptions& options);

/// Attention for one row of queries, to which the appended row belongs as if it had been in the caches
/// before; afterwards it is. A place beyond the caches is none, and nothing is appended.
cudaError_t appending_row_attention(const AttentionArgs& args, const AppendedRow& row, FloatType type,
                                    const AttentionSize& size, int blocks, const LaunchOptions& options);

}  // namespace hone::device::cuda
