// Functions of one byte as tables, which CPUs with AVX-512's permutations of bytes keep in registers.
#pragma once

#include <array>
#include <cstdint>

namespace hone::device::cpu {

/// The result for each byte.
using ByteTable = std::array<uint8_t, 256>;

/// y[i] = table[x[i]]; y may be x.
void look_up(const ByteTable& table, const uint8_t* x, uint8_t* y, int64_t n);

}  // namespace hone::device::cpu
