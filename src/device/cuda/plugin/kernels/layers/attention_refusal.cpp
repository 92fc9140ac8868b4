// The part of attention.hpp that does not need CUDA's compiler.
#include <algorithm>
#include <array>
#include <iterator>
#include <string>

#include "device/cuda/plugin/kernels/layers/attention.hpp"

namespace hone::device::cuda {
namespace {

std::string too_wide(const AttentionSize& size, int most) {
  return "heads of " + std::to_string(size.depth) + " and " + std::to_string(size.width) + " columns, " +
         std::to_string(most) + " at most";
}

/// True if all rows of the operands consist of runs of 16 bytes.
bool lie_in_runs(const AttentionSize& size) {
  constexpr int64_t kRun = 8;
  const auto in_runs = [](int64_t elements) { return elements % kRun == 0; };
  const auto lies_in_runs = [&](const AttentionMatrix* matrix) {
    return in_runs(matrix->offset) && in_runs(matrix->row) &&
           std::all_of(std::begin(matrix->loops), std::end(matrix->loops), in_runs);
  };
  const std::array matrices = {&size.q, &size.k, &size.v, &size.y};
  return in_runs(size.depth) && in_runs(size.width) &&
         std::all_of(matrices.begin(), matrices.end(), lies_in_runs);
}

constexpr const char* kNoRuns = "rows do not lie in runs of 16 bytes";

}  // namespace

int64_t AttentionSize::heads() const {
  int64_t count = 1;
  for (int i = 0; i < loops; ++i) count *= lengths[i];
  return count;
}

Refusal attention_refusal(const AttentionSize& size, const DeviceProperties& device) {
  if (!device.async_copies) return "it needs compute capability 8.0";
  if (size.depth < 1 || size.width < 1 || size.depth > AttentionSize::kMostDepth ||
      size.width > AttentionSize::kMostDepth)
    return too_wide(size, AttentionSize::kMostDepth);
  constexpr int64_t kMost = int64_t{1} << 30;
  if (size.rows > kMost || size.keys > kMost || size.heads() > kMost / 64 ||
      size.heads() * ((size.rows + 63) / 64) > kMost)
    return "it has too many rows";
  if (size.keys < 1) return "it has no keys";
  return {};
}

Refusal warpgroup_attention_refusal(const AttentionSize& size, const DeviceProperties& device) {
  if (Refusal why = attention_refusal(size, device)) return why;
  if (!device.warpgroups) return "it is for compute capability 9.0";
  constexpr int kMostColumns = 64;
  if (size.depth > kMostColumns || size.width > kMostColumns) return too_wide(size, kMostColumns);
  if (!lie_in_runs(size)) return kNoRuns;
  return {};
}

Refusal row_attention_refusal(const AttentionSize& size, const DeviceProperties& device) {
  if (Refusal why = attention_refusal(size, device)) return why;
  constexpr int64_t kMostRows = 8;
  if (size.rows > kMostRows) return "it has more than " + std::to_string(kMostRows) + " rows";
  if (!lie_in_runs(size)) return kNoRuns;
  return {};
}

}  // namespace hone::device::cuda
