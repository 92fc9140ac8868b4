// Which kernels of one recording replaced which kernels of another.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace hone::analysis {

struct MatchedLayers;

/// All layers in which the same kernels of A were replaced by the same kernels of B. Times are per iteration,
/// ns.
struct KernelExchange {
  /// The functions' own names, so that instances of a template are equal; empty if that side ran nothing.
  std::vector<std::string> a;
  std::vector<std::string> b;
  double time_a = 0;
  double time_b = 0;
  int64_t layers = 0;

  double change() const { return time_b - time_a; }
};

/// Lists layers whose kernels differ; the largest change comes first.
std::vector<KernelExchange> kernel_exchanges(const std::vector<MatchedLayers>& layers);

}  // namespace hone::analysis
