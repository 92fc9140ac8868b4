// See run.hpp.
#include "bench/results/run.hpp"

#include <fmt/format.h>

#include <numeric>

namespace hone::bench {

int64_t Run::sample_count() const {
  int64_t count = 0;
  for (const auto& round : rounds) count += static_cast<int64_t>(round.size());
  return count;
}

std::vector<std::string> Run::remarks() const {
  std::vector<std::string> result;
  if (!measured()) return result;
  if (!gpu.unknown.empty())
    result.push_back("clocks and other processes of the GPU were not watched: " + gpu.unknown);
  if (gpu.taken() > 0 && !gpu.other_processes)
    result.emplace_back("NVML does not list all processes on the GPU: others may have used it unseen");
  if (accuracy.reference != tensor::Precision::kFp32)
    result.push_back(
        fmt::format("{}: its reference computes in {}, as the model says, and errors are against "
                    "that",
                    setup.model, tensor::precision_name(accuracy.reference)));
  return result;
}

double Run::measured_seconds() const {
  return std::accumulate(block_wall_ms.begin(), block_wall_ms.end(), 0.0) / 1e3;
}

double Run::throughput() const {
  const double seconds = measured_seconds();
  return seconds > 0 ? static_cast<double>(setup.batch * sample_count()) / seconds : 0;
}

double Run::pipelined_throughput() const {
  if (pipelined.runs == 0) return 0;
  return 1e3 * static_cast<double>(setup.batch * pipelined.runs) / pipelined.wall_ms;
}

}  // namespace hone::bench
