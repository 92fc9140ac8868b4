// See kernel_exchanges.hpp.
#include "analysis/questions/kernel_exchanges.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "analysis/names.hpp"
#include "analysis/questions/trace_diff.hpp"

namespace hone::analysis {
namespace {

std::vector<std::string> own_names(const std::vector<std::string>& kernels) {
  std::vector<std::string> names;
  for (const std::string& kernel : kernels) {
    std::string name = base_name(kernel);
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(std::move(name));
  }
  return names;
}

}  // namespace

std::vector<KernelExchange> kernel_exchanges(const std::vector<MatchedLayers>& layers) {
  std::map<std::pair<std::vector<std::string>, std::vector<std::string>>, KernelExchange> by_names;
  for (const MatchedLayers& group : layers) {
    auto names = std::pair(own_names(group.kernels_a), own_names(group.kernels_b));
    if (names.first == names.second) continue;
    KernelExchange& exchange = by_names[names];
    exchange.a = std::move(names.first);
    exchange.b = std::move(names.second);
    exchange.time_a += group.time_a.mean;
    exchange.time_b += group.time_b.mean;
    ++exchange.layers;
  }
  std::vector<KernelExchange> result;
  for (auto& [names, exchange] : by_names) result.push_back(std::move(exchange));
  std::stable_sort(result.begin(), result.end(), [](const KernelExchange& a, const KernelExchange& b) {
    return std::abs(a.change()) > std::abs(b.change());
  });
  return result;
}

}  // namespace hone::analysis
