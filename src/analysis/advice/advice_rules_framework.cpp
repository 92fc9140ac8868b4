// The seven rules of TensorBoard's profiler plugin. Its thresholds are kept if they made sense. Unlike the
// plugin, the rules look at all devices, do not mistake host memory for GPU memory, and report gains and
// places.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "analysis/advice/advice_rules.hpp"
#include "analysis/names.hpp"
#include "base/units.hpp"

namespace hone::analysis {
namespace {

using base::bytes_text;
using base::share_text;
using base::time_text;
using trace::HostEvent;
using trace::HostKind;

constexpr double kMuchDataLoading = 0.05;
constexpr double kMuchCommunication = 0.1;
constexpr double kLowUtilization = 0.5;
constexpr double kNoTensorCores = 0.01;
constexpr double kFullMemory = 0.9;
/// The first compute capability with Tensor Cores.
constexpr int32_t kFirstTensorCores = 7;
/// The first compute capability with TF32 and bf16.
constexpr int32_t kFirstTf32 = 8;

/// The time of one category summed over all steps, ns.
double total_cost(const StepBreakdown& steps, StepCategory category) {
  double sum = 0;
  for (const StepCost& step : steps.steps)
    sum += static_cast<double>(step.costs.at(static_cast<size_t>(category)));
  return sum;
}

std::vector<Evidence> evidence_of(const StepBreakdown& steps, StepCategory category) {
  const auto cost = [category](const StepCost& step) { return step.costs.at(static_cast<size_t>(category)); };
  const StepCost* worst = &steps.steps.front();
  for (const StepCost& step : steps.steps) {
    if (cost(step) > cost(*worst)) worst = &step;
  }
  const base::Summary& summary = steps.categories.at(static_cast<size_t>(category));
  return {{fmt::format("{} of a step: {} of {} on average", share_text(steps.share(category)),
                       time_text(summary.mean), time_text(steps.total.mean)),
           {}},
          {fmt::format("most in {}: {}", worst->step.name, time_text(static_cast<double>(cost(*worst)))),
           worst->step.span}};
}

/// Counts the operators and ranges with this name in the window.
int64_t count_named(const RuleContext& context, std::string_view name) {
  const trace::StringId id = context.trace.strings.find(name);
  int64_t count = 0;
  for (const HostEvent& event : context.trace.host_events) {
    const bool kind = event.kind == HostKind::kOperator || event.kind == HostKind::kRange;
    if (id != 0 && event.name == id && kind && context.starts_inside(event.start)) ++count;
  }
  return count;
}

template <class Event>
int64_t count_if_named(const RuleContext& context, const std::vector<Event>& events,
                       bool (*wanted)(std::string_view)) {
  std::vector<int8_t> known(context.trace.strings.size(), -1);
  int64_t count = 0;
  for (const Event& event : events) {
    if (!context.starts_inside(event.start)) continue;
    if (known[event.name] < 0) known[event.name] = wanted(context.trace.text(event.name)) ? 1 : 0;
    count += known[event.name];
  }
  return count;
}

Ruling data_loading(const RuleContext& context) {
  if (context.steps.share(StepCategory::kDataLoading) <= kMuchDataLoading) return {};
  return {
      Advice{"", "Steps wait for their input data.", evidence_of(context.steps, StepCategory::kDataLoading),
             "Load data in other processes in advance: raise num_workers of the DataLoader, set "
             "pin_memory and prefetch_factor, keep decoding and augmentation out of the loop.",
             total_cost(context.steps, StepCategory::kDataLoading),
             "the time in which the steps did nothing but load data"},
      {}};
}

int64_t used_devices(const RuleContext& context) {
  int64_t used = 0;
  for (const DeviceUsage& device : context.gpu.devices) used += device.kernels > 0 ? 1 : 0;
  return used;
}

Ruling data_parallel(const RuleContext& context) {
  const int64_t calls = count_named(context, "DataParallel.forward");
  const int64_t devices = used_devices(context);
  if (calls == 0 || devices < 2) return {};
  return {Advice{"",
                 "DataParallel drives several GPUs from one process.",
                 {{fmt::format("{} calls of DataParallel.forward on {} GPUs", calls, devices), {}}},
                 "Use DistributedDataParallel with one process a GPU: Python's lock and the copying of the "
                 "model in every step go away.",
                 0,
                 "not known without a trial"},
          {}};
}

Ruling nccl_backend(const RuleContext& context) {
  const int64_t forwards = count_named(context, "DistributedDataParallel.forward");
  if (forwards == 0 || used_devices(context) == 0) return {};
  if (count_if_named(context, context.trace.device_events, is_communication_kernel) > 0) return {};
  const int64_t collectives = count_if_named(context, context.trace.host_events, is_host_communication);
  if (collectives == 0) return {{}, "no collective operations were recorded"};
  return {Advice{"",
                 "Collective operations between GPUs go through the host.",
                 {{fmt::format("{} collectives by gloo, mpi or ucc and none by NCCL", collectives), {}}},
                 "Use the NCCL backend: init_process_group(\"nccl\").",
                 total_cost(context.steps, StepCategory::kCommunication),
                 "the time in which the steps did nothing but communicate"},
          {}};
}

Ruling communication(const RuleContext& context) {
  if (context.steps.share(StepCategory::kCommunication) <= kMuchCommunication) return {};
  return {Advice{"", "Steps wait for communication that no computation covers.",
                 evidence_of(context.steps, StepCategory::kCommunication),
                 "Start collectives earlier (smaller buckets), compress or accumulate gradients, or use "
                 "larger batches.",
                 total_cost(context.steps, StepCategory::kCommunication),
                 "the time in which the steps did nothing but communicate"},
          {}};
}

Ruling gpu_utilization(const RuleContext& context) {
  Advice advice{"",
                "A GPU computes less than half of the time.",
                {},
                "",
                context.savable_idle(),
                "the time in which the busiest GPU does nothing"};
  for (const DeviceUsage& device : context.gpu.devices) {
    if (device.kernels == 0 || device.utilization.value >= kLowUtilization) continue;
    advice.evidence.push_back(
        {fmt::format("GPU {}: kernels run {} of the time, {} of {}", device.device,
                     share_text(device.utilization.value), time_text(static_cast<double>(device.busy)),
                     time_text(context.window_length())),
         {}});
  }
  if (advice.evidence.empty()) return {};
  size_t largest = static_cast<size_t>(StepCategory::kMemcpy);
  for (size_t i = largest; i < kStepCategories; ++i) {
    if (context.steps.categories.at(i).mean > context.steps.categories.at(largest).mean) largest = i;
  }
  const auto category = static_cast<StepCategory>(largest);
  advice.evidence.push_back({fmt::format("most of the rest is {}: {} of a step", category_name(category),
                                         share_text(context.steps.share(category))),
                             {}});
  advice.action =
      "Give the GPU more work at once (larger batches, several requests in flight), and see the other advice "
      "for the causes of its waits.";
  return {std::move(advice), {}};
}

/// Device time of operators that could use Tensor Cores, ns.
double eligible_time(const OperatorTable& table) {
  double sum = 0;
  for (const OperatorRow& row : table.rows)
    sum += row.tensor_core_eligible ? static_cast<double>(row.device_self) : 0;
  return sum;
}

Ruling tensor_cores(const RuleContext& context) {
  Advice advice{"", "A GPU has Tensor Cores that no kernel uses.", {}, "", 0, ""};
  double kernel_time = 0;
  int32_t newest = 0;
  for (const DeviceUsage& device : context.gpu.devices) {
    if (device.kernels == 0 || device.compute_major < kFirstTensorCores) continue;
    if (device.tensor_cores.value >= kNoTensorCores) continue;
    kernel_time += static_cast<double>(device.kernel_time);
    newest = std::max(newest, device.compute_major);
    advice.evidence.push_back(
        {fmt::format("GPU {}, compute capability {}.{}: {} of kernel time in kernels that use them ({})",
                     device.device, device.compute_major, device.compute_minor,
                     share_text(device.tensor_cores.value), origin_name(device.tensor_cores.origin)),
         {}});
  }
  if (advice.evidence.empty()) return {};
  if (context.operators.rows.empty())
    return {{}, "no operators were recorded, so what Tensor Cores could run is not known"};
  const double eligible = std::min(eligible_time(context.operators), kernel_time);
  if (!context.worthwhile(eligible)) return {};
  advice.evidence.push_back(
      {fmt::format("matrix products and convolutions take {} of device time", time_text(eligible)), {}});
  advice.action = newest >= kFirstTf32
                      ? "Run them in bf16 or fp16 (torch.autocast), or at least allow TF32 "
                        "(torch.set_float32_matmul_precision(\"high\")); keep channel counts multiples of 8."
                      : "Run them in fp16 (torch.autocast); keep channel counts multiples of 8.";
  advice.gain = eligible / 2;
  advice.gain_basis = "if these operators became twice as fast";
  return {std::move(advice), {}};
}

Ruling full_memory(const RuleContext& context) {
  Advice advice{"", "The memory of a GPU is nearly full.",  {}, "",
                0,  "this is about failing, not about time"};
  bool judged = false;
  for (const DeviceMemory& memory : context.memory.devices) {
    const trace::DeviceProperties* device = context.trace.find_device(memory.device);
    if (memory.device < 0 || device == nullptr || device->memory_bytes <= 0) continue;
    judged = true;
    const double share = static_cast<double>(memory.peak) / static_cast<double>(device->memory_bytes);
    if (share <= kFullMemory) continue;
    advice.evidence.push_back({fmt::format("GPU {}: peak of {}, {} of {}", memory.device,
                                           bytes_text(static_cast<double>(memory.peak)), share_text(share),
                                           bytes_text(static_cast<double>(device->memory_bytes))),
                               {memory.peak_time, memory.peak_time + 1}});
    for (size_t i = 0; i < std::min<size_t>(3, memory.at_peak.size()); ++i)
      advice.evidence.push_back(
          {fmt::format("{} of it made by {}", bytes_text(static_cast<double>(memory.at_peak[i].bytes)),
                       memory.at_peak[i].name),
           {}});
  }
  if (!judged) return {{}, "no memory of a GPU of known size was recorded"};
  if (advice.evidence.empty()) return {};
  advice.action =
      "Use a lower precision, smaller batches, inference mode (no gradients kept), or activation "
      "checkpointing "
      "when training.";
  return {std::move(advice), {}};
}

constexpr std::array<Rule, 7> kRules = {{{"data-loading", data_loading, true, true},
                                         {"data-parallel", data_parallel},
                                         {"nccl-backend", nccl_backend},
                                         {"communication", communication},
                                         {"gpu-utilization", gpu_utilization},
                                         {"tensor-cores", tensor_cores},
                                         {"full-memory", full_memory, true}}};

}  // namespace

std::span<const Rule> framework_rules() { return kRules; }

}  // namespace hone::analysis
