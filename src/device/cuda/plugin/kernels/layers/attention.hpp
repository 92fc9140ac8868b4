// Attention in one kernel: y = softmax(scale * q k' + masks) v. A block takes 16 to 64 rows of queries of one
// head and goes over its keys once, keeping the largest score and the sum of exponentials so far (Dao et al.,
// "FlashAttention", 2022). Scores stay in registers, and operands are read in place.
#pragma once

#include <cstdint>

#include "base/refusal.hpp"
#include "device/cuda/plugin/kernels/common/launch_options.hpp"

namespace hone::device::cuda {

/// The matrices of an operand, in elements from its first: step i of loop l over the heads adds i * loops[l].
struct AttentionMatrix {
  static constexpr int kMostLoops = 5;
  int64_t offset = 0;
  int64_t loops[kMostLoops] = {};
  int64_t row = 0;     ///< elements from one row to the next
  int64_t column = 1;  ///< always 1, except for masks
};

/// If `fills`, the mask is bool, and `value` replaces the
/// scores at which it equals `where`; otherwise it is added.
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
  bool guarded = false;  ///< if true, a row gives zeros if it has a NaN or no score above minus infinity
  AttentionMatrix q;
  AttentionMatrix k;  ///< one row for each key
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
  /// Masks of float, or of bool for a mask that fills.
  const void* masks[AttentionSize::kMostMasks] = {};
  void* y = nullptr;
};

/// The rotation of one row by its position, as in rotary.hpp. Rows must consist of whole runs of 16 bytes.
struct RowRotation {
  /// One element for each element of the row; null for no rotation.
  const void* cosines = nullptr;
  const void* sines = nullptr;
};

/// One row to append to the keys and one to append to the values, which are caches then.
struct AppendedRow {
  /// The index of the appended row in the caches; a negative index counts from the end.
  const int64_t* place = nullptr;
  const void* k = nullptr;
  const void* v = nullptr;
  /// The matrices of each head; only `offset` and `loops` are used.
  AttentionMatrix k_heads;
  AttentionMatrix v_heads;
  /// Writable pointers to the caches AttentionArgs::k and v.
  void* k_cache = nullptr;
  void* v_cache = nullptr;
  /// Rotations of the queries, and of k before it is appended: either both or none. Half a row must then
  /// consist of whole runs.
  RowRotation q_rotation;
  RowRotation k_rotation;
};

/// The reason why attention() cannot run this; empty if it can.
Refusal attention_refusal(const AttentionSize& size, const DeviceProperties& device);

/// Attention for half and bfloat16. `split` is 1, 2 or 4: this number of warps shares the keys of 16 rows, so
/// that a block of four warps has 64, 32 or 16 rows. With more blocks, few rows finish sooner, but keys are
/// read more often.
cudaError_t attention(const AttentionArgs& args, FloatType type, const AttentionSize& size, int split,
                      const LaunchOptions& options);

/// The reason why warpgroup_attention() cannot run this; empty if it can.
Refusal warpgroup_attention_refusal(const AttentionSize& size, const DeviceProperties& device);

/// The data that the warpgroups of a block share. kNothing: there is one warpgroup, with 64 rows. kRows: two
/// share the keys of the same 64 rows. kKeys: two read the same keys for 64 rows each.
enum class WarpgroupShares : int { kNothing, kRows, kKeys };

/// Attention by warpgroups; `shares` is a WarpgroupShares.
cudaError_t warpgroup_attention(const AttentionArgs& args, FloatType type, const AttentionSize& size,
                                int shares, const LaunchOptions& options);

/// The reason why row_attention() cannot run this; empty if it can.
Refusal row_attention_refusal(const AttentionSize& size, const DeviceProperties& device);

/// Attention for few rows. Up to 8 `blocks` share the keys of a row; more than one block form a cluster.
cudaError_t row_attention(const AttentionArgs& args, FloatType type, const AttentionSize& size, int blocks,
                          const LaunchOptions& options);

/// Attention for one row of queries that includes the appended row, as if it had been in the caches before.
/// The row is written to the caches. If its index is outside the caches, nothing is appended.
cudaError_t appending_row_attention(const AttentionArgs& args, const AppendedRow& row, FloatType type,
                                    const AttentionSize& size, int blocks, const LaunchOptions& options);

}  // namespace hone::device::cuda
