// Tactics of attention, whose variants say how the blocks or warps of a kernel share keys.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "device/cuda/plugin/gpu.hpp"
#include "engine/kernel.hpp"

namespace hone::device::cuda {

struct AttentionWay {
  std::string_view name;
  /// The launcher's argument.
  int split;
  bool in_cluster = false;
};

/// Ways by the number of blocks that share the keys of a row.
std::vector<AttentionWay> row_ways();

/// The offer of a way, by its split.
using OfferWay = std::function<engine::Offer(const engine::StepRequest& request, int split)>;

/// The first way is the best guess.
engine::Tactic tactic_of_ways(std::string name, std::string operator_name, const Gpu& gpu,
                              const std::vector<AttentionWay>& ways, const OfferWay& offer);

}  // namespace hone::device::cuda
