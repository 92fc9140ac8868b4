// See step_profile.hpp.
#include "backend/partition/step_profile.hpp"

#include "base/error.hpp"
#include "base/statistics.hpp"

namespace hone::backend::partition {
namespace {

std::map<std::string, double> times_of(const LayerProfile& profile) {
  std::map<std::string, double> times;
  for (const LayerTime& layer : profile.layers) {
    if (!layer.times_ms.empty()) times[layer.name] += 1e3 * base::median(layer.times_ms);
  }
  return times;
}

/// Returns means over runs, because the work of one run is not separated from that of the next.
std::map<std::string, double> times_of(const base::DeviceRecord& record, int runs) {
  constexpr double kNanosecondsPerMicrosecond = 1e3;
  std::map<std::string, double> times;
  for (const base::DeviceWork& work : record.work) {
    if (work.node < 0) continue;
    const int64_t step = record.nodes[static_cast<size_t>(work.node)].step;
    times[record.texts[static_cast<size_t>(step)]] +=
        static_cast<double>(work.end_ns - work.start_ns) / kNanosecondsPerMicrosecond / runs;
  }
  return times;
}

}  // namespace

std::map<std::string, double> profile_steps(Executable& executable, std::span<const tensor::Tensor> inputs,
                                            int runs) {
  executable.upload(inputs);
  if (executable.has_layers()) return times_of(executable.profile_layers(runs));
  if (!executable.times_device()) return {};
  try {
    const auto observer = executable.observe({.device = true});
    if (observer == nullptr) return {};
    for (int run = 0; run < runs; ++run) executable.execute();
    return times_of(observer->finish().device, runs);
  } catch (const Error& error) {
    // Some engines cannot be watched; a block's time is then divided without step times.
    if (error.kind() != ErrorKind::kEnvironment) throw;
    return {};
  }
}

}  // namespace hone::backend::partition
