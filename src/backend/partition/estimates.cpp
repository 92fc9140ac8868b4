// See estimates.hpp.
#include "backend/partition/estimates.hpp"

#include <algorithm>

#include "graph/operator.hpp"
#include "tensor/place.hpp"

namespace hone::backend::partition {
namespace {

constexpr Rates kCore = {.flops_per_us = 20e3, .bytes_per_us = 10e3, .call_us = 1};
constexpr Rates kGpu = {.flops_per_us = 100e6, .bytes_per_us = 1e6, .call_us = 3};
constexpr double kCopiedBytesPerMicrosecond = 10e3;
constexpr double kLaunchMicroseconds = 5;
constexpr double kWaitMicroseconds = 10;

}  // namespace

Rates rates_of(std::string_view device, int threads) {
  if (tensor::parse_place(device).kind != tensor::PlaceKind::kCpu) return kGpu;
  Rates rates = kCore;
  rates.flops_per_us *= threads;
  return rates;
}

std::vector<double> roofline_us(const graph::Graph& typed, const Rates& rates) {
  std::vector<double> times;
  for (const graph::Node& node : typed.nodes) {
    const graph::Cost cost = graph::node_cost(typed, node).value_or(graph::Cost());
    const bool moves = !graph::changes_shape_only(node);
    const double flops = cost.flops / rates.flops_per_us;
    const double bytes = moves ? cost.bytes / rates.bytes_per_us : 0;
    times.push_back(rates.call_us + std::max(flops, bytes));
  }
  return times;
}

double copy_us_per_byte() { return 1 / kCopiedBytesPerMicrosecond; }

double launch_us() { return kLaunchMicroseconds; }

double wait_us() { return kWaitMicroseconds; }

}  // namespace hone::backend::partition
