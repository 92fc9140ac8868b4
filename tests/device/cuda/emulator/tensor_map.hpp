// Tensor maps, which the copy unit reads and launchers have the driver encode.
#pragma once

#include <cuda.h>

#include <array>
#include <cstdint>
#include <functional>

namespace hone::device::cuda::emulator {

/// The contents of a map. The first dimension is that of neighbours.
struct TensorMap {
  static constexpr int kMostRank = 5;

  std::byte* memory = nullptr;
  int rank = 0;
  int element_bytes = 0;
  std::array<int64_t, kMostRank> extents{};
  std::array<int64_t, kMostRank> pitches{};  ///< bytes
  std::array<int64_t, kMostRank> box{};      ///< of tiled maps
  std::array<int, kMostRank> strides{};
  bool im2col = false;
  std::array<int, 2> lower{};  ///< corners of the box of windows' pixels: of width, of height
  std::array<int, 2> upper{};
  int channels = 0;  ///< of a column of an im2col map
  int pixels = 0;
  int swizzle_bytes = 0;

  size_t box_bytes() const;
  /// Bytes of all of the tensor, for who asks what a copy touches.
  size_t bytes() const;
  /// Where what is at `offset` of a box at shared address `target` lies.
  uint32_t place(uint32_t target, size_t offset) const;

  /// An element at `offset` of a box; one outside of the tensor has no memory.
  using Visit = std::function<void(size_t offset, std::byte* element)>;
  /// Visits the elements of the box at `corner`.
  void visit_box(const std::array<int, kMostRank>& corner, const Visit& visit) const;
  /// Visits the elements of a column of windows' pixels: channels from `channel` of the pixels from (w, h, n)
  /// on, each (tap_w, tap_h) further.
  void visit_column(int channel, int w, int h, int n, int tap_w, int tap_h, const Visit& visit) const;

 private:
  void visit_run(std::array<int, kMostRank> first, int64_t count, size_t offset, const Visit& visit) const;
};

/// The parameters with which `map` was encoded; throws Fault when it was not.
const TensorMap& tensor_map(const CUtensorMap& map);

/// As the driver's functions of these names.
CUresult encode_tiled(CUtensorMap* map, CUtensorMapDataType type, cuuint32_t rank, void* memory,
                      const cuuint64_t* extents, const cuuint64_t* pitches, const cuuint32_t* box,
                      const cuuint32_t* strides, CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                      CUtensorMapL2promotion promotion, CUtensorMapFloatOOBfill fill);
CUresult encode_im2col(CUtensorMap* map, CUtensorMapDataType type, cuuint32_t rank, void* memory,
                       const cuuint64_t* extents, const cuuint64_t* pitches, const int* lower,
                       const int* upper, cuuint32_t channels, cuuint32_t pixels, const cuuint32_t* strides,
                       CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                       CUtensorMapL2promotion promotion, CUtensorMapFloatOOBfill fill);

}  // namespace hone::device::cuda::emulator
