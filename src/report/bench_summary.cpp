// See bench_summary.hpp.
#include "report/bench_summary.hpp"

#include <fmt/format.h>

#include "base/statistics.hpp"

namespace hone::report {

std::vector<std::string> bench_summary(const bench::Run& run) {
  const base::Summary s = base::summarize(base::all_samples(run.rounds));
  const double queries = run.throughput() / static_cast<double>(run.configuration.batch);
  std::vector<std::string> lines = {
      "=== Performance summary ===",
      fmt::format("Throughput: {:g} qps", queries),
      fmt::format("Samples per second: {:g}", run.throughput()),
      fmt::format("Latency: min = {:g} ms, max = {:g} ms, mean = {:g} ms, median = {:g} ms, "
                  "percentile(90%) = {:g} ms, percentile(95%) = {:g} ms, percentile(99%) = {:g} ms",
                  s.min, s.max, s.mean, s.p50, s.p90, s.p95, s.p99),
      fmt::format("Total Host Walltime: {:g} s", run.measured_seconds()),
      fmt::format("Result is : {}", run.verdict.valid ? "VALID" : "INVALID")};
  for (const std::string& reason : run.verdict.reasons) lines.push_back("  " + reason);
  return lines;
}

}  // namespace hone::report
