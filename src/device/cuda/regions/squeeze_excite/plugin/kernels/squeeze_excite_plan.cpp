// How a cluster shares an image. See squeeze_excite.hpp.
#include <algorithm>
#include <optional>

#include "device/cuda/plugin/kernels/common/ceil_divide.hpp"
#include "device/cuda/regions/squeeze_excite/plugin/kernels/squeeze_excite.hpp"

namespace hone::device::cuda {
namespace {

constexpr int kRun = 8;
constexpr int kRunBytes = 16;
constexpr int kFewThreads = 256;
constexpr int kMostThreads = 512;
/// Shorter pieces of a pixel would waste what a read brings along.
constexpr int kLeastPartRuns = 4;
/// Floats between rows of sums, besides the channels: threads of one warp then read other banks.
constexpr int kSumPad = 4;

/// The largest power of two up to `most` and up to `limit`, 1 at least.
int lanes(int64_t most, int limit) {
  int result = 1;
  while (result * 2 <= std::min<int64_t>(most, limit)) result *= 2;
  return result;
}

/// The smallest power of two that is not less than `value`.
int power_of_two(int value) {
  int result = 1;
  while (result < value) result *= 2;
  return result;
}

/// Hands out shared memory.
class Places {
 public:
  int take(int64_t bytes) {
    const auto at = static_cast<int>(next_);
    next_ += ceil_divide(bytes, kRunBytes) * kRunBytes;
    return at;
  }
  int64_t end() const { return next_; }

 private:
  int64_t next_ = 0;
};

int64_t weight_runs(const SqueezeExcite& size, const SqueezeExcitePlan& plan) {
  return size.hidden * plan.part_runs + int64_t{plan.part_runs} * size.hidden_pitch();
}

/// Everything but x, without or with the weights; returns the bytes.
int64_t place(const SqueezeExcite& size, bool with_weights, SqueezeExcitePlan& plan) {
  constexpr int64_t kFloat = sizeof(float);
  const int64_t channels = int64_t{plan.part_runs} * kRun;
  Places places;
  places.take(with_weights ? size.hidden * plan.part_runs * kRunBytes : 0);
  plan.w2_at = places.take(with_weights ? plan.part_runs * size.hidden_pitch() * kRunBytes : 0);
  plan.b1_at = places.take(size.hidden * kFloat);
  plan.b2_at = places.take(channels * kFloat);
  plan.sums_at = places.take(plan.rows * plan.sum_pitch * kFloat);
  plan.totals_at = places.take(channels * kFloat);
  plan.received_at = places.take(plan.blocks() * size.hidden * kFloat);
  plan.hidden_at = places.take(size.hidden_pitch() * kFloat);
  plan.gates_at = places.take(channels * kFloat);
  plan.x_at = static_cast<int>(places.end());
  plan.keeps_weights = with_weights;
  return places.end();
}

/// Returns whether it fits; fills in where things lie.
bool place_within(const SqueezeExcite& size, int64_t budget, bool with_weights, SqueezeExcitePlan& plan) {
  const int64_t bytes = place(size, with_weights, plan);
  if (bytes > budget) return false;
  plan.holds = plan.rounds <= SqueezeExcitePlan::kMostHeld;
  if (plan.holds) {
    plan.kept_rounds = plan.rounds;
    plan.shared_bytes = static_cast<int>(bytes);
    return true;
  }
  const int64_t round_bytes = int64_t{plan.rows} * plan.part_runs * kRunBytes;
  plan.kept_rounds = static_cast<int>(std::min<int64_t>(plan.rounds, (budget - bytes) / round_bytes));
  plan.shared_bytes = static_cast<int>(bytes + plan.kept_rounds * round_bytes);
  return true;
}

/// Nullopt when a block would have nothing to do, too little, or more channels than threads.
std::optional<SqueezeExcitePlan> make_plan(const SqueezeExcite& size, int pixel_parts, int channel_parts,
                                           const DeviceProperties& device) {
  SqueezeExcitePlan plan;
  const auto runs = static_cast<int>(size.channels / kRun);
  plan.pixel_parts = pixel_parts;
  plan.channel_parts = channel_parts;
  plan.part_runs = ceil_divide(runs, channel_parts);
  plan.part_pixels = static_cast<int>(ceil_divide(size.pixels, pixel_parts));
  if ((channel_parts - 1) * plan.part_runs >= runs || plan.part_runs > kMostThreads) return std::nullopt;
  if (channel_parts > 1 && plan.part_runs < kLeastPartRuns) return std::nullopt;
  if (int64_t{pixel_parts - 1} * plan.part_pixels >= size.pixels) return std::nullopt;
  const int64_t block_runs = int64_t{plan.part_pixels} * plan.part_runs + weight_runs(size, plan);
  const bool few = block_runs <= int64_t{4} * kFewThreads;
  plan.threads = few && plan.part_runs <= kFewThreads ? kFewThreads : kMostThreads;
  plan.rows = std::min(plan.threads / plan.part_runs, plan.part_pixels);
  plan.rounds = ceil_divide(plan.part_pixels, plan.rows);
  const int64_t channels = int64_t{plan.part_runs} * kRun;
  plan.sum_pitch = static_cast<int>(channels) + kSumPad;
  plan.sum_lanes = lanes(plan.threads / channels, std::min(plan.rows, kRun));
  plan.squeeze_lanes = lanes(plan.threads / size.hidden, std::min(power_of_two(plan.part_runs), 32));
  const auto hidden_runs = static_cast<int>(size.hidden_pitch() / kRun);
  plan.gate_lanes = lanes(plan.threads / channels, std::min(power_of_two(hidden_runs), kRun));
  // Where there are more blocks than multiprocessors, two of them share one.
  constexpr int kReserved = 1024;  // bytes that a block takes of the multiprocessor's memory besides its own
  const int64_t half = (device.shared_memory - kReserved) / 2;
  const bool share = size.batch * plan.blocks() > device.multiprocessors;
  if (share && place_within(size, half, true, plan)) return plan;
  if (place_within(size, device.shared_memory, true, plan)) return plan;
  return place_within(size, device.shared_memory, false, plan) ? std::optional(plan) : std::nullopt;
}

/// Reads and writes of a block in runs: what it cannot keep it reads twice.
double work(const SqueezeExcite& size, const SqueezeExcitePlan& plan) {
  // Memory is read by 32 bytes.
  const int read_runs = plan.channel_parts == 1 ? plan.part_runs : ceil_divide(plan.part_runs, 2) * 2;
  const double again = static_cast<double>(plan.rounds - plan.kept_rounds) / plan.rounds;
  return (2 + again) * plan.part_pixels * read_runs + static_cast<double>(weight_runs(size, plan));
}

}  // namespace

Refusal squeeze_excite_refusal(const SqueezeExcite& size, const DeviceProperties& device) {
  if (!device.clusters) return "it needs compute capability 9.0";
  if (size.channels < 1 || size.channels % kRun != 0 || size.channels > SqueezeExcite::kMostChannels)
    return std::to_string(size.channels) + " channels, no multiple of " + std::to_string(kRun) + " up to " +
           std::to_string(SqueezeExcite::kMostChannels);
  if (size.hidden < 1 || size.hidden > SqueezeExcite::kMostHidden)
    return std::to_string(size.hidden) + " channels between, not 1 to " +
           std::to_string(SqueezeExcite::kMostHidden);
  if (size.pixels < 1 || size.pixels > SqueezeExcite::kMostPixels || size.batch < 0 ||
      size.batch > SqueezeExcite::kMostImages)
    return "an empty or a huge image";
  return {};
}

SqueezeExcitePlan squeeze_excite_plan(const SqueezeExcite& size, int most_blocks,
                                      const DeviceProperties& device) {
  std::optional<SqueezeExcitePlan> best;
  for (int blocks = std::clamp(most_blocks, 2, SqueezeExcitePlan::kMostBlocks); blocks >= 1; --blocks) {
    if (power_of_two(blocks) != blocks) continue;
    for (int channel_parts = 1; channel_parts <= blocks; channel_parts *= 2) {
      const auto plan = make_plan(size, blocks / channel_parts, channel_parts, device);
      if (plan && (!best || work(size, *plan) < work(size, *best))) best = plan;
    }
  }
  return best.value_or(SqueezeExcitePlan{});
}

}  // namespace hone::device::cuda
