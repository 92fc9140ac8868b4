// See estimates.hpp.
#include "backend/partition/estimates.hpp"

#include <algorithm>

#include "graph/operator.hpp"

namespace hone::backend::partition {
namespace {

constexpr double kFlopsPerMicrosecond = 20e3;
constexpr double kBytesPerMicrosecond = 10e3;
constexpr double kCallMicroseconds = 1;
constexpr double kLaunchMicroseconds = 5;

}  // namespace

std::vector<double> roofline_us(const graph::Graph& typed, int threads) {
  std::vector<double> times;
  for (const graph::Node& node : typed.nodes) {
    const graph::Cost cost = graph::node_cost(typed, node).value_or(graph::Cost());
    const bool moves = !graph::changes_shape_only(node);
    const double flops = cost.flops / (kFlopsPerMicrosecond * threads);
    const double bytes = moves ? cost.bytes / kBytesPerMicrosecond : 0;
    times.push_back(kCallMicroseconds + std::max(flops, bytes));
  }
  return times;
}

double copy_us_per_byte() { return 1 / kBytesPerMicrosecond; }

double launch_us() { return kLaunchMicroseconds; }

}  // namespace hone::backend::partition
