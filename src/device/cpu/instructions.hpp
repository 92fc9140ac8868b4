// The vector instructions that loops of ours may use: the CPU has them, and oneDNN may use them too. So
// ONEDNN_MAX_CPU_ISA narrows both alike, and the loops of a lesser CPU can be tested on a better one.
// Loops that the compiler vectorises (clones.hpp) compute the same with any set, and are not narrowed.
#pragma once

namespace hone::device::cpu {

/// With FMA.
bool has_avx2();
/// F, BW, DQ and VL.
bool has_avx512();
/// AVX-512's products of bytes, which are added in 32 bits.
bool has_avx512_vnni();
/// AVX-512's products of bfloat16.
bool has_avx512_bf16();
/// True if these add more products a second than FMA adds of float32. They are half as fast on Intel's cores
/// from Sapphire Rapids on, whose AMX was to do that work, and twice as fast on AMD's.
bool has_fast_avx512_bf16();
/// AMX's products of bfloat16.
bool has_amx_bf16();

}  // namespace hone::device::cpu
