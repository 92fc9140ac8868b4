// LSTM, GRU and RNN in tiles of ours, for the options of ONNX that oneDNN lacks, and for threads: each takes
// a direction, or some sequences of one, and never waits for another.
#pragma once

#include "device/cpu/recurrent_layer.hpp"
#include "device/cpu/tile_math.hpp"

namespace hone::device::cpu {

/// W and R in the type of tiles: for each direction and gate, in ONNX's order, its panels of columns, each
/// panel unit by unit.
struct PackedGateWeights {
  const uint32_t* w;
  const uint32_t* r;
};

/// The kernel and its scratch memory. It reads X and writes Y in the type of tiles, and all else but lengths
/// (int32) in float32. Bad input when it runs with lengths outside of the input.
engine::Offer tiled_recurrent_kernel(const engine::StepRequest& request, const RecurrentLayer& layer,
                                     TileType type, const PackedGateWeights& weights);

}  // namespace hone::device::cpu
