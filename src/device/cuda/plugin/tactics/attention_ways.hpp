// Tactics of attention, whose variants define how the blocks or warps of a kernel share keys.
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
  /// The argument for the launcher.
  int split;
  bool in_cluster = false;
};

/// The ways for different numbers of blocks that share the keys of a row.
std::vector<AttentionWay> row_ways();

/// Makes the offer for a way, given its split.
using OfferWay = std::function<engine::Offer(const engine::StepRequest& request, int split)>;

/// Makes the tactic; the first way is the best guess.
engine::Tactic tactic_of_ways(std::string name, std::string operator_name, const Gpu& gpu,
                              const std::vector<AttentionWay>& ways, const OfferWay& offer);

}  // namespace hone::device::cuda
