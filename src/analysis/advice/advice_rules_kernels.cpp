// Rules about kernels: conversions that undo each other, kernels that leave most of the GPU empty, and matrix
// products in a wider format than needed.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "analysis/advice/advice_rules.hpp"
#include "analysis/names.hpp"
#include "analysis/questions/tensor_cores.hpp"
#include "base/units.hpp"
#include "trace/occupancy.hpp"

namespace hone::analysis {
namespace {

using base::share_text;
using base::time_text;
using trace::DeviceEvent;
using trace::DeviceKind;
using trace::KernelLaunch;

constexpr double kManyConversions = 0.05;
constexpr double kBigShare = 0.1;
constexpr double kLowOccupancy = 0.25;
constexpr double kManyProducts = 0.3;
constexpr double kTensorCoresUsed = 0.01;

/// Sums over the kernels of one name in the window.
struct KernelSum {
  int64_t calls = 0;
  double time = 0;            ///< ns
  double occupied = 0;        ///< occupancy x time of kernels whose occupancy is known
  double occupancy_time = 0;  ///< time of kernels whose occupancy is known
  double tensor_time = 0;     ///< time of kernels that use Tensor Cores
  double filled = 0;          ///< share of the multiprocessors with at least one block x time
  double shape_time = 0;
  Span longest;
};

struct KernelSums {
  std::map<trace::StringId, KernelSum> by_name;
  double time = 0;
};

void add_launch(const RuleContext& context, const DeviceEvent& event, double duration, KernelSum* sum) {
  if (event.detail < 0) return;
  const KernelLaunch& launch = context.trace.launches[static_cast<size_t>(event.detail)];
  const trace::DeviceProperties* device = context.trace.find_device(event.device);
  const double occupancy =
      device == nullptr ? launch.recorded_occupancy : trace::estimated_occupancy(launch, *device);
  if (occupancy >= 0) {
    sum->occupied += occupancy / 100 * duration;
    sum->occupancy_time += duration;
  }
  if (device == nullptr || device->multiprocessors <= 0 || launch.grid[0] <= 0) return;
  const double blocks =
      static_cast<double>(launch.grid[0]) * std::max(launch.grid[1], 1) * std::max(launch.grid[2], 1);
  sum->filled += std::min(blocks / device->multiprocessors, 1.0) * duration;
  sum->shape_time += duration;
}

KernelSums sum_kernels(const RuleContext& context) {
  KernelSums sums;
  TensorCores tensor_cores(context.trace);
  for (const DeviceEvent& event : context.trace.device_events) {
    if (event.kind != DeviceKind::kKernel || !context.starts_inside(event.start)) continue;
    KernelSum& sum = sums.by_name[event.name];
    const Span span{event.start, event.end};
    const auto duration = static_cast<double>(length(span));
    ++sum.calls;
    sum.time += duration;
    if (tensor_cores.of(event).uses) sum.tensor_time += duration;
    sums.time += duration;
    if (length(span) > length(sum.longest)) sum.longest = span;
    add_launch(context, event, duration, &sum);
  }
  return sums;
}

template <size_t n>
bool contains_any(std::string_view text, const std::array<std::string_view, n>& parts) {
  return std::any_of(parts.begin(), parts.end(),
                     [text](std::string_view part) { return text.find(part) != std::string_view::npos; });
}

/// True for kernels that only change the layout or the type of their input.
bool is_conversion(std::string_view name) {
  constexpr std::array<std::string_view, 12> kParts = {
      "nchwtonhwc",     "nhwctonchw", "nchw_to_nhwc",       "nhwc_to_nchw",        "transpose",
      "permute",        "reorder",    "direct_copy_kernel", "float16_copy_kernel", "bfloat16_copy_kernel",
      "convert_kernel", "cast_kernel"};
  constexpr std::array<std::string_view, 4> kOthers = {"conv_transpose", "convolution_transpose", "gemm",
                                                       "gemv"};
  return contains_any(name, kParts) && !contains_any(name, kOthers);
}

bool is_matrix_product(std::string_view name) {
  constexpr std::array<std::string_view, 7> kParts = {"gemm",  "conv",    "fprop", "winograd",
                                                      "nvjet", "cutlass", "matmul"};
  return contains_any(name, kParts) && !is_conversion(name);
}

Ruling conversions(const RuleContext& context) {
  const KernelSums sums = sum_kernels(context);
  double time = 0;
  int64_t calls = 0;
  std::vector<std::pair<double, Evidence>> found;
  for (const auto& [id, sum] : sums.by_name) {
    const std::string& name = context.trace.text(id);
    if (!is_conversion(lower_case(name))) continue;
    time += sum.time;
    calls += sum.calls;
    found.emplace_back(
        sum.time,
        Evidence{fmt::format("{} x {}: {}", sum.calls, base_name(name), time_text(sum.time)), sum.longest});
  }
  if (sums.time <= 0 || time < kManyConversions * sums.time) return {};
  std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  Advice advice{
      "",
      "Kernels that only convert layouts or types take a good part of the time (told by names).",
      {{fmt::format("{} conversions take {}, {} of kernel time", calls, time_text(time),
                    share_text(time / sums.time)),
        {}}},
      "Keep one layout and one type through the network (channels_last, weights converted once), or "
      "build an engine, which chooses layouts across layers.",
      std::min(time, context.busy_time()),
      "the time of these kernels"};
  for (size_t i = 0; i < std::min<size_t>(3, found.size()); ++i)
    advice.evidence.push_back(std::move(found[i].second));
  return {std::move(advice), {}};
}

/// Describes why a kernel does not fill the GPU, and how much of its time more blocks could save. Returns
/// nothing if it fills the GPU.
std::optional<std::pair<std::string, double>> poor_fill(const KernelSum& sum, bool tensor_cores) {
  const double fill = sum.shape_time > 0 ? sum.filled / sum.shape_time : 1;
  if (fill < 0.5)
    return std::pair(fmt::format("its blocks reach {} of the multiprocessors", share_text(fill)),
                     sum.time * (1 - fill));
  // Kernels with Tensor Cores hide latency with large tiles instead of many warps, so low occupancy is
  // normal.
  if (tensor_cores || sum.occupancy_time <= 0) return std::nullopt;
  const double occupancy = sum.occupied / sum.occupancy_time;
  if (occupancy >= kLowOccupancy) return std::nullopt;
  return std::pair(fmt::format("estimated occupancy of {}", share_text(occupancy)), 0.0);
}

Ruling low_occupancy(const RuleContext& context) {
  const KernelSums sums = sum_kernels(context);
  bool judged = sums.by_name.empty();
  Advice advice{"", "Kernels with a large share of the time leave most of the GPU empty.",
                {}, "",
                0,  "if the work of kernels with too few blocks were spread over all multiprocessors"};
  for (const auto& [id, sum] : sums.by_name) {
    judged = judged || sum.occupancy_time > 0 || sum.shape_time > 0;
    if (sum.time <= 0 || sum.time < kBigShare * sums.time) continue;
    const std::string& name = context.trace.text(id);
    const auto poor = poor_fill(sum, sum.tensor_time > sum.time / 2);
    if (!poor) continue;
    advice.gain += poor->second;
    advice.evidence.push_back({fmt::format("{}, {} of kernel time: {}", base_name(name),
                                           share_text(sum.time / sums.time), poor->first),
                               sum.longest});
  }
  if (!judged) return {{}, "neither launch shapes with the size of the GPU nor occupancies were recorded"};
  if (advice.evidence.empty()) return {};
  advice.gain = std::min(advice.gain, context.busy_time());
  advice.action =
      "Too few blocks: larger batches, several requests at once on streams, or kernels that split along the "
      "summed dimension. Low occupancy: fewer registers or less shared memory a block.";
  return {std::move(advice), {}};
}

enum class Format : uint8_t { kWide, kNarrow, kUnknown };

/// Derives the format of a matrix product's inputs from the kernel's name.
Format format_of(std::string_view name) {
  constexpr std::array<std::string_view, 12> kNarrow = {"f16f16", "bf16", "fp16",    "_f16",
                                                        "half",   "h884", "h1688",   "s884",
                                                        "16816",  "hmma", "nvjet_h", "nvjet_t"};
  constexpr std::array<std::string_view, 6> kNarrower = {"nvjet_q", "e4m3", "e5m2", "i8816", "s8s8", "int8"};
  constexpr std::array<std::string_view, 8> kWide = {"sgemm",    "tf32",  "f32f32", "s1688",
                                                     "nvjet_ss", "_ffma", "fp32",   "float"};
  // Most kernels accumulate in float, so names of narrow formats are tested first; but tf32 counts as wide.
  if (name.find("tf32") != std::string_view::npos) return Format::kWide;
  if (contains_any(name, kNarrow) || contains_any(name, kNarrower)) return Format::kNarrow;
  return contains_any(name, kWide) ? Format::kWide : Format::kUnknown;
}

/// If no kernel uses Tensor Cores, the rule on Tensor Cores reports that instead.
Ruling half_precision(const RuleContext& context) {
  const bool tensor_cores =
      std::any_of(context.gpu.devices.begin(), context.gpu.devices.end(),
                  [](const DeviceUsage& device) { return device.tensor_cores.value >= kTensorCoresUsed; });
  if (!tensor_cores) return {};
  const KernelSums sums = sum_kernels(context);
  double wide = 0;
  double narrow = 0;
  Evidence largest;
  double largest_time = 0;
  for (const auto& [id, sum] : sums.by_name) {
    const std::string name = lower_case(context.trace.text(id));
    if (!is_matrix_product(name)) continue;
    const Format format = format_of(name);
    if (format == Format::kNarrow) narrow += sum.time;
    if (format != Format::kWide) continue;
    wide += sum.time;
    if (sum.time <= largest_time) continue;
    largest_time = sum.time;
    largest = {fmt::format("{} x {}: {}", sum.calls, base_name(context.trace.text(id)), time_text(sum.time)),
               sum.longest};
  }
  if (narrow > kWorthwhile * sums.time || wide <= 0 || wide < kManyProducts * sums.time) return {};
  return {
      Advice{"",
             "Matrix products and convolutions run in fp32 or TF32 and none in half precision (told by "
             "names).",
             {{fmt::format("they take {}, {} of kernel time", time_text(wide), share_text(wide / sums.time)),
               {}},
              largest},
             "Try bf16 or fp16 (torch.autocast, hone --bf16) and compare the outputs.",
             std::min(wide, context.busy_time()) / 2,
             "half precision has twice the rate of TF32 and half the bytes"},
      {}};
}

constexpr std::array<Rule, 3> kRules = {
    {{"conversions", conversions}, {"low-occupancy", low_occupancy}, {"half-precision", half_precision}}};

}  // namespace

std::span<const Rule> kernel_rules() { return kRules; }

}  // namespace hone::analysis
