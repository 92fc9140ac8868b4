// See costs.hpp.
#include "backend/partition/costs.hpp"

#include <algorithm>
#include <cmath>
#include <set>

namespace hone::backend::partition {

bool Costs::takes(int backend, size_t of) const { return std::isfinite(node(backend, of)); }

bool Costs::takes_all(int backend, std::span<const int32_t> nodes) const {
  return std::all_of(nodes.begin(), nodes.end(),
                     [&](int32_t one) { return takes(backend, static_cast<size_t>(one)); });
}

std::vector<Crossing> crossings(const Wiring& wiring, std::span<const Block> blocks) {
  const std::vector<int32_t> block = block_of_nodes(wiring.size(), blocks);
  std::vector<Crossing> result;
  for (size_t flow = 0; flow < wiring.flows.size(); ++flow) {
    const Flow& of = wiring.flows[flow];
    const int32_t from = of.producer < 0 ? -1 : block[static_cast<size_t>(of.producer)];
    std::set<int32_t> readers;
    for (const int32_t node : of.consumers) readers.insert(block[static_cast<size_t>(node)]);
    readers.erase(from);
    for (const int32_t to : readers) result.push_back({flow, from, to});
    if (of.is_output && from >= 0) result.push_back({flow, from, -1});
  }
  return result;
}

Prediction predict(const Wiring& wiring, const Costs& costs, std::span<const Block> blocks) {
  Prediction prediction;
  double wait = 0;
  for (const Block& block : blocks) {
    wait = std::max(wait, costs.backends[static_cast<size_t>(block.backend)].wait_us);
    prediction.launches_us += costs.backends[static_cast<size_t>(block.backend)].launch_us;
    for (const int32_t node : block.nodes)
      prediction.nodes_us += costs.node(block.backend, static_cast<size_t>(node));
  }
  prediction.launches_us += wait;
  const auto backend_of = [&](int32_t block) { return blocks[static_cast<size_t>(block)].backend; };
  size_t handed_out = wiring.flows.size();
  for (const Crossing& crossing : crossings(wiring, blocks)) {
    const double bytes = wiring.flows[crossing.flow].bytes;
    if (crossing.from >= 0 && crossing.flow != handed_out) {
      prediction.borders_us += costs.output_us(backend_of(crossing.from), bytes);
      handed_out = crossing.flow;
    }
    if (crossing.to >= 0) prediction.borders_us += costs.input_us(backend_of(crossing.to), bytes);
  }
  return prediction;
}

}  // namespace hone::backend::partition
