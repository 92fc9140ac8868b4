// Tiles of float32 and of int16 in the registers of AVX2 (tile_math.hpp): 16 registers hold the sums of six
// rows by two vectors of columns, so that a tile is cut into such parts.
#pragma once

#include "device/cpu/tile_math.hpp"

namespace hone::device::cpu {

/// The rows of a tile that are cut evenly: two parts of six.
inline constexpr int64_t kAvx2TileRows = 12;

/// multiply_tile() of TileType::kFloat32 or kShorts.
void multiply_avx2_tile(TileType type, int64_t rows, const uint32_t* a, const uint32_t* b, int64_t units,
                        const TileTarget& target);

}  // namespace hone::device::cpu
