// The instruction sets that kernels of this process use: those that oneDNN finds on the CPU, or those of a
// lower level, to which a process narrows itself to tune an engine for many machines. ONEDNN_MAX_CPU_ISA
// narrows them too, so that the loops of a lesser CPU can be tested on a better one. Loops that the compiler
// vectorises (clones.hpp) compute the same with any set, and are not narrowed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace hone::device::cpu {

/// Each has the instructions of those before it.
enum class Level : uint8_t { kAvx2, kAvx512, kAvx512Vnni, kAvx512Bf16, kAmx };

/// "AVX2", "AVX-512", "AVX-512-VNNI", "AVX-512-BF16", "AMX".
std::string_view level_name(Level level);
/// The level of a name in any case, with or without dashes. Usage error, which lists the levels, for another
/// one.
Level parse_level(std::string_view name);

/// True where kernels may use these instructions. The first call of this or instructions_text() settles which
/// ones the process uses.
bool has_level(Level level);
/// True for AVX2 with FMA.
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
/// The highest level that kernels may use; none below AVX2.
std::optional<Level> highest_level();
/// All that kernels may use, by the names that CPUs list them under: "AVX-512 with BF16".
std::string instructions_text();

/// Limits kernels to this level from now on. Environment error where the CPU lacks it, and where kernels of
/// the process were made for a higher one already.
void narrow_to(Level level);
/// The level that narrow_to() set.
std::optional<Level> narrowed_level();

}  // namespace hone::device::cpu
