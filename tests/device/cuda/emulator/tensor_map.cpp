// See tensor_map.hpp. Limits: CUDA Driver API 13.0, "Tensor Map Object Management".
#include "device/cuda/emulator/tensor_map.hpp"

#include <algorithm>
#include <cstring>
#include <deque>

#include "device/cuda/emulator/machine.hpp"

namespace hone::device::cuda::emulator {
namespace {

constexpr uint64_t kMagic = 0x7465736e6f726d61;

int bytes_of(CUtensorMapDataType type) {
  switch (type) {
    case CU_TENSOR_MAP_DATA_TYPE_FLOAT16:
    case CU_TENSOR_MAP_DATA_TYPE_BFLOAT16: return 2;
    case CU_TENSOR_MAP_DATA_TYPE_FLOAT32: return 4;
    default: return 0;
  }
}

int bytes_of(CUtensorMapSwizzle swizzle) {
  switch (swizzle) {
    case CU_TENSOR_MAP_SWIZZLE_32B: return 32;
    case CU_TENSOR_MAP_SWIZZLE_64B: return 64;
    case CU_TENSOR_MAP_SWIZZLE_128B: return 128;
    default: return 0;
  }
}

/// Fills in the fields of both kinds; false where the driver refuses it.
bool fill_common(TensorMap& made, CUtensorMapDataType type, cuuint32_t rank, void* memory,
                 const cuuint64_t* extents, const cuuint64_t* pitches, const cuuint32_t* strides,
                 CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle) {
  constexpr uint64_t kMostExtent = uint64_t{1} << 32;
  constexpr uint64_t kMostPitch = uint64_t{1} << 40;
  constexpr uint32_t kMostStride = 8;
  made.memory = static_cast<std::byte*>(memory);
  made.rank = static_cast<int>(rank);
  made.element_bytes = bytes_of(type);
  made.swizzle_bytes = bytes_of(swizzle);
  if (rank == 0 || rank > TensorMap::kMostRank || made.element_bytes == 0 ||
      interleave != CU_TENSOR_MAP_INTERLEAVE_NONE || memory == nullptr ||
      reinterpret_cast<uintptr_t>(memory) % 16 != 0)
    return false;
  made.pitches[0] = made.element_bytes;
  for (cuuint32_t i = 0; i < rank; ++i) {
    if (extents[i] == 0 || extents[i] > kMostExtent || strides[i] == 0 || strides[i] > kMostStride)
      return false;
    made.extents[i] = static_cast<int64_t>(extents[i]);
    made.strides[i] = static_cast<int>(strides[i]);
    if (i + 1 == rank) break;
    if (pitches[i] % 16 != 0 || pitches[i] >= kMostPitch) return false;
    made.pitches[i + 1] = static_cast<int64_t>(pitches[i]);
  }
  return true;
}

CUresult keep(const TensorMap& made, CUtensorMap* map) {
  static std::deque<TensorMap> maps;
  const TensorMap* const kept = &maps.emplace_back(made);
  std::memset(map, 0, sizeof *map);
  map->opaque[0] = kMagic;
  map->opaque[1] = reinterpret_cast<uint64_t>(kept);
  return CUDA_SUCCESS;
}

}  // namespace

size_t TensorMap::box_bytes() const {
  if (im2col) return static_cast<size_t>(pixels) * channels * element_bytes;
  size_t elements = 1;
  for (int i = 0; i < rank; ++i) elements *= box[i];
  return elements * element_bytes;
}

size_t TensorMap::bytes() const { return static_cast<size_t>(extents[rank - 1] * pitches[rank - 1]); }

uint32_t TensorMap::place(uint32_t target, size_t offset) const {
  const auto address = target + static_cast<uint32_t>(offset);
  // The row's number within 128 bytes times 8 gives the address bits that are XORed to those of 16 bytes.
  const uint32_t mask = swizzle_bytes == 0 ? 0 : swizzle_bytes - 16;
  return address ^ (address >> 3 & mask);
}

void TensorMap::visit_run(std::array<int, kMostRank> first, int64_t count, size_t offset,
                          const Visit& visit) const {
  bool inside = true;
  std::byte* row = memory;
  for (int i = 1; i < rank; ++i) {
    inside = inside && first[i] >= 0 && first[i] < extents[i];
    row += first[i] * pitches[i];
  }
  for (int64_t k = 0; k < count; ++k) {
    const int64_t column = first[0] + k;
    visit(offset + static_cast<size_t>(k) * element_bytes,
          inside && column >= 0 && column < extents[0] ? row + column * element_bytes : nullptr);
  }
}

void TensorMap::visit_box(const std::array<int, kMostRank>& corner, const Visit& visit) const {
  const size_t run_bytes = static_cast<size_t>(box[0]) * element_bytes;
  const size_t runs = box_bytes() / run_bytes;
  for (size_t run = 0; run < runs; ++run) {
    std::array<int, kMostRank> first = corner;
    size_t rest = run;
    for (int i = 1; i < rank; ++i) {
      first[i] += static_cast<int>(rest % box[i]);
      rest /= box[i];
    }
    visit_run(first, box[0], run * run_bytes, visit);
  }
}

void TensorMap::visit_column(int channel, int w, int h, int n, int tap_w, int tap_h,
                             const Visit& visit) const {
  const size_t run_bytes = static_cast<size_t>(channels) * element_bytes;
  for (int pixel = 0; pixel < pixels; ++pixel) {
    visit_run({channel, w + tap_w, h + tap_h, n}, channels, pixel * run_bytes, visit);
    w += strides[1];
    if (w < extents[1] + upper[0]) continue;
    w = lower[0];
    h += strides[2];
    if (h < extents[2] + upper[1]) continue;
    h = lower[1];
    ++n;
  }
}

const TensorMap& tensor_map(const CUtensorMap& map) {
  if (map.opaque[0] != kMagic) throw Fault("a tensor map that nobody encoded");
  return *reinterpret_cast<const TensorMap*>(map.opaque[1]);
}

CUresult encode_tiled(CUtensorMap* map, CUtensorMapDataType type, cuuint32_t rank, void* memory,
                      const cuuint64_t* extents, const cuuint64_t* pitches, const cuuint32_t* box,
                      const cuuint32_t* strides, CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                      CUtensorMapL2promotion /*promotion*/, CUtensorMapFloatOOBfill /*fill*/) {
  constexpr cuuint32_t kMostBox = 256;
  TensorMap made;
  if (!fill_common(made, type, rank, memory, extents, pitches, strides, interleave, swizzle))
    return CUDA_ERROR_INVALID_VALUE;
  for (cuuint32_t i = 0; i < rank; ++i) {
    if (box[i] == 0 || box[i] > kMostBox || strides[i] != 1) return CUDA_ERROR_INVALID_VALUE;
    made.box[i] = box[i];
  }
  const auto run_bytes = static_cast<int>(box[0]) * made.element_bytes;
  if (run_bytes % 16 != 0 || (made.swizzle_bytes != 0 && run_bytes > made.swizzle_bytes))
    return CUDA_ERROR_INVALID_VALUE;
  return keep(made, map);
}

CUresult encode_im2col(CUtensorMap* map, CUtensorMapDataType type, cuuint32_t rank, void* memory,
                       const cuuint64_t* extents, const cuuint64_t* pitches, const int* lower,
                       const int* upper, cuuint32_t channels, cuuint32_t pixels, const cuuint32_t* strides,
                       CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                       CUtensorMapL2promotion /*promotion*/, CUtensorMapFloatOOBfill /*fill*/) {
  constexpr cuuint32_t kMostChannels = 256;
  constexpr cuuint32_t kMostPixels = 1024;
  constexpr int kMostCorner = 127;  // of rank 4
  TensorMap made;
  if (rank != 4 || !fill_common(made, type, rank, memory, extents, pitches, strides, interleave, swizzle))
    return CUDA_ERROR_INVALID_VALUE;
  made.im2col = true;
  made.channels = static_cast<int>(channels);
  made.pixels = static_cast<int>(pixels);
  for (int i = 0; i < 2; ++i) {
    made.lower[i] = lower[i];
    made.upper[i] = upper[i];
    if (std::max(std::abs(lower[i]), std::abs(upper[i])) > kMostCorner) return CUDA_ERROR_INVALID_VALUE;
  }
  if (channels > kMostChannels || pixels > kMostPixels || made.channels * made.element_bytes % 16 != 0 ||
      (made.swizzle_bytes != 0 && made.channels * made.element_bytes > made.swizzle_bytes))
    return CUDA_ERROR_INVALID_VALUE;
  return keep(made, map);
}

}  // namespace hone::device::cuda::emulator
