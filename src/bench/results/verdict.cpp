// See verdict.hpp.
#include "bench/results/verdict.hpp"

#include <fmt/ranges.h>

#include <cmath>

#include "base/statistics.hpp"

namespace hone::bench {
namespace {

/// Interquartile range divided by the median; above this, torch.utils.benchmark warns of system fluctuations.
constexpr double kMaxSpread = 0.10;
/// A relevant change between the first and the second half, in addition to the noise.
constexpr double kMaxDrift = 0.03;
constexpr double kMaxOtherShare = 0.05;
constexpr double kMaxStealShare = 0.02;
/// A change of the SM clock changes the time of arithmetic by the same share, so the limit is that of drift.
/// The clock changes in steps of 15 MHz, which is less than 1 % on every GPU that hone runs on.
constexpr double kMaxClockChange = kMaxDrift;
/// Reasons outside of the run that lower clocks. The software power cap is excluded, because large batches
/// always run at the power limit; their clock is steady, or the drift rules detect that it is not.
constexpr uint64_t kSlowdowns = static_cast<uint64_t>(ClockReason::kHwSlowdown) |
                                static_cast<uint64_t>(ClockReason::kSwThermalSlowdown) |
                                static_cast<uint64_t>(ClockReason::kHwThermalSlowdown) |
                                static_cast<uint64_t>(ClockReason::kHwPowerBrake);
/// /proc/stat counts in ticks of 10 ms per core. In short measurements, a few ticks that fall into the rounds
/// by chance would exceed any share.
constexpr double kTickAllowanceSeconds = 0.03;

/// Relative L2 error above which outputs are wrong, not only rounded. It is far above the errors of all
/// tested networks (1e-6, 1e-3, 2e-3 and 4e-2 from fp32 to bf16).
double max_error(tensor::Precision precision) {
  switch (precision) {
    case tensor::Precision::kFp32: return 1e-3;
    case tensor::Precision::kTf32: return 0.05;
    case tensor::Precision::kFp16: return 0.1;
    case tensor::Precision::kBf16: return 0.2;
    case tensor::Precision::kInt8: return 0.5;
  }
  return 0;
}

using Reasons = std::vector<std::string>;

void check_sample_count(const VerdictInput& input, int64_t n, Reasons* reasons) {
  const int64_t needed = base::samples_for_percentile(input.percentile);
  if (n < needed) {
    reasons->push_back(
        fmt::format("{} samples are too few for p{:g}, which needs {}", n, 100 * input.percentile, needed));
  }
}

void check_spread(const base::Summary& summary, Reasons* reasons) {
  const double spread = (summary.p75 - summary.p25) / summary.p50;
  if (spread > kMaxSpread) {
    reasons->push_back(
        fmt::format("high variance: the middle half of the samples spreads over {:.0f} % of the "
                    "median (limit {:.0f} %)",
                    100 * spread, 100 * kMaxSpread));
  }
}

/// Compares halves with equal numbers of rounds; the noise is that of the rounds' medians (Welch's t).
void check_drift(const base::Rounds& rounds, Reasons* reasons) {
  std::vector<double> medians;
  for (const auto& round : rounds) {
    if (!round.empty()) medians.push_back(base::median(round));
  }
  const size_t half = medians.size() / 2;
  if (half < 2) return;
  const auto middle = medians.begin() + static_cast<std::ptrdiff_t>(half);
  const base::Summary first = base::summarize({medians.begin(), middle});
  const base::Summary second =
      base::summarize({medians.end() - static_cast<std::ptrdiff_t>(half), medians.end()});
  const double change = second.mean / first.mean - 1;
  const double error =
      std::sqrt((first.sd * first.sd + second.sd * second.sd) / static_cast<double>(half)) / first.mean;
  const double noise = error * base::student_t_975(static_cast<int64_t>(2 * half - 2));
  if (std::abs(change) > kMaxDrift && std::abs(change) > noise) {
    reasons->push_back(fmt::format("drift: the second half is {:.1f} % {} than the first",
                                   100 * std::abs(change), change > 0 ? "slower" : "faster"));
  }
}

void check_outputs(const VerdictInput& input, Reasons* reasons) {
  if (!input.outputs_finite) reasons->emplace_back("the outputs hold NaN or infinite values");
  if (!input.impossible_outputs.empty())
    reasons->push_back("the outputs are wrong: " + input.impossible_outputs);
  const tensor::Precision coarser =
      max_error(input.reference) > max_error(input.precision) ? input.reference : input.precision;
  const double limit = max_error(coarser);
  if (input.error && *input.error > limit) {
    reasons->push_back(fmt::format(
        "the outputs are wrong: {:.1e} off the {} reference, more than {} explains (limit {:.0e})",
        *input.error, tensor::precision_name(input.reference), tensor::precision_name(coarser), limit));
  }
}

bool passes(double seconds, double share, double capacity_s) {
  return seconds > share * capacity_s + kTickAllowanceSeconds;
}

void check_machine(const VerdictInput& input, Reasons* reasons) {
  const system::Interference& seen = input.interference;
  // Runs on a CPU wait for caches and memory that all cores share. The host part of a GPU run does so much
  // less, and with the limits for CPUs, sweeps on two GPUs of a machine would make each other INVALID.
  const bool on_gpu = input.gpu != nullptr;
  if (passes(on_gpu ? seen.near_s : seen.other_s, kMaxOtherShare, seen.capacity_s)) {
    reasons->push_back(
        fmt::format("other processes used {:.0f} % of the CPU{} during the run (limit {:.0f} %)",
                    100 * (on_gpu ? seen.near_share() : seen.other_share()),
                    on_gpu && seen.near_share() < seen.other_share() ? " cores that hone may use" : "",
                    100 * kMaxOtherShare));
  }
  if (passes(seen.steal_s, kMaxStealShare, seen.capacity_s)) {
    reasons->push_back(fmt::format("the hypervisor took {:.0f} % of the CPU during the run (limit {:.0f} %)",
                                   100 * seen.steal_share(), 100 * kMaxStealShare));
  }
  if (seen.throttle_events > 0) {
    reasons->push_back(fmt::format("the CPU throttled {} times because of heat", seen.throttle_events));
  }
  if (input.threads > input.cores) {
    reasons->push_back(fmt::format("{} threads share {} cores", input.threads, input.cores));
  }
}

void check_gpu(const GpuConditions& gpu, Reasons* reasons) {
  if (gpu.other_processes.value_or(0) > 0)
    reasons->push_back(
        fmt::format("{} other processes had contexts on the GPU during the run", *gpu.other_processes));
  if (const uint64_t slowdowns = gpu.clock_reasons() & kSlowdowns; slowdowns != 0)
    reasons->push_back(
        fmt::format("the GPU was slowed down: {}", fmt::join(clock_reason_names(slowdowns), ", ")));
  const auto halves = gpu.sm_clock_halves();
  if (halves && std::abs(halves->change()) > kMaxClockChange) {
    reasons->push_back(
        fmt::format("the GPU's clock changed: {:.0f} MHz in the first half, {:.0f} in the second "
                    "(limit {:.0f} %)",
                    halves->first_mhz, halves->second_mhz, 100 * kMaxClockChange));
  }
}

}  // namespace

Verdict judge(const VerdictInput& input) {
  Verdict verdict;
  const base::Summary summary = base::summarize(base::all_samples(input.rounds));
  check_sample_count(input, summary.n, &verdict.reasons);
  // If busy threads are part of the setup, they spread the latencies, which is what the user wants to
  // measure.
  if (summary.n > 0 && !input.disturbed) check_spread(summary, &verdict.reasons);
  check_drift(input.rounds, &verdict.reasons);
  if (!input.warm)
    verdict.reasons.emplace_back("the latency was still changing when the warm-up time was over");
  check_outputs(input, &verdict.reasons);
  check_machine(input, &verdict.reasons);
  if (input.gpu != nullptr) check_gpu(*input.gpu, &verdict.reasons);
  verdict.valid = verdict.reasons.empty();
  return verdict;
}

}  // namespace hone::bench
