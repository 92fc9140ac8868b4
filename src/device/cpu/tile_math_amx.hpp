// Tiles of bfloat16 in the tile registers of AMX (tile_math.hpp): 16 rows of 16 units times 16 units of 16
// columns in one instruction.
//
//                     b: 16 units x 32 columns
//                     ┌─────────┬─────────┐
//                     │ tmm6    │ tmm7    │
//     a: 32 rows x    └─────────┴─────────┘
//        16 units     sums, which stay over all units
//     ┌─────────┐     ┌─────────┬─────────┐
//     │ tmm4    │     │ tmm0    │ tmm1    │
//     ├─────────┤     ├─────────┼─────────┤
//     │ tmm5    │     │ tmm2    │ tmm3    │
//     └─────────┘     └─────────┴─────────┘
#pragma once

#include "device/cpu/tile_math.hpp"

namespace hone::device::cpu {

/// The most rows of a tile, and the rows that one register holds: a tile reads whole registers.
inline constexpr int64_t kAmxTileRows = 32;
inline constexpr int64_t kAmxRegisterRows = 16;
/// Units that one instruction sums.
inline constexpr int64_t kAmxUnits = 16;

/// The tile registers of this thread, set up for multiply_amx_tile() as long as this lives. They are empty
/// afterwards: registers that hold values make each change of threads slower.
class AmxRegisters {
 public:
  /// Does nothing if not `needed`.
  explicit AmxRegisters(bool needed);
  ~AmxRegisters();
  AmxRegisters(const AmxRegisters&) = delete;
  AmxRegisters& operator=(const AmxRegisters&) = delete;

 private:
  bool needed_;
};

struct AmxOperands {
  /// Rows `a_stride` units apart. Whole registers are read: rows after the last one may hold anything.
  const uint32_t* a;
  int64_t a_stride;
  /// 32 columns a unit, as for multiply_tile().
  const uint32_t* b;
  /// A multiple of kAmxUnits: both operands have zeros after their last element.
  int64_t units;
  /// The columns that later tiles read: `ahead_lines` lines of 64 bytes are fetched for each kAmxUnits units.
  const uint32_t* ahead = nullptr;
  int64_t ahead_lines = 0;
};

/// One tile of 1 to kAmxTileRows rows, whose results are bfloat16. For CPUs that have tiles of kAmx, where
/// AmxRegisters live.
void multiply_amx_tile(int64_t rows, const AmxOperands& operands, const TileTarget& target);

}  // namespace hone::device::cpu
