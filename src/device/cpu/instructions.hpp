// The instruction sets that kernels of this process use: those that oneDNN finds on the CPU, or those of a
// lower level, to which a process narrows itself to tune an engine for many machines.
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
inline bool has_avx512() { return has_level(Level::kAvx512); }
/// The highest level that kernels may use; none below AVX2.
std::optional<Level> highest_level();
/// All that kernels may use, by the names that CPUs list them under: "AVX-512 with BF16".
std::string instructions_text();

/// From now on kernels use this level only. Environment error where the CPU lacks it, and where kernels of
/// the process were made for a higher one already.
void narrow_to(Level level);
/// The level that narrow_to() set.
std::optional<Level> narrowed_level();

}  // namespace hone::device::cpu
