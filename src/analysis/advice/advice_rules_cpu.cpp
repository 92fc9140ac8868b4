// Rules about a model that ran on the CPU: layers that use reference kernels, convert layouts, wait for
// memory, stay far below the CPU's peak, or are too short for the number of threads.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <functional>

#include "analysis/advice/advice_rules.hpp"
#include "base/units.hpp"

namespace hone::analysis {
namespace {

using base::share_text;
using base::time_text;

constexpr size_t kExamples = 3;
constexpr double kManyReorders = 0.05;
constexpr double kBigShare = 0.2;
/// A layer counts as limited by memory if its time is within this factor of the time that its memory traffic
/// needs.
constexpr double kNearFloor = 2;
constexpr double kFarFromFloor = 4;
/// Distributing a layer to threads and waiting for them takes some microseconds, so shorter layers gain
/// little from threads.
constexpr double kShortLayer = 20'000;
constexpr double kFewAtWork = 0.6;
/// Below this number of operations per byte, a matrix product is limited by loading its weights.
constexpr double kFewOperations = 10;

constexpr const char* kNoLayers =
    "no steps of an engine were recorded (hone profile MODEL records those of hone)";

constexpr const char* kNoRoof =
    "no roof of the CPU was recorded, or other processes used the CPU while it was measured";
constexpr double kQuiet = 0.05;

/// Returns nothing if the rates were measured too low because the machine was busy.
std::optional<trace::CpuRoof> roof_of(const RuleContext& context) {
  auto roof = trace::CpuRoof::of(context.trace);
  return roof && roof->other_share < kQuiet ? roof : std::nullopt;
}

/// Time summed over all iterations, in ns.
double total(const Layer& layer) { return layer.time.mean * static_cast<double>(layer.time.n); }

std::string metadata_of(const RuleContext& context, const char* key) {
  const auto found = context.trace.metadata.find(key);
  return found == context.trace.metadata.end() ? "" : found->second;
}

/// Returns 0 if the value is unknown.
int number_of(const RuleContext& context, const char* key) {
  const std::string text = metadata_of(context, key);
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() ? number : 0;
}

bool is_reference(const Layer& layer) { return layer.tactic.starts_with("reference"); }
bool is_reorder(const Layer& layer) { return layer.kind == "Reorder"; }

/// Some layers of a model, longest first, and their share of the time.
struct Part {
  std::vector<const Layer*> layers;
  double time = 0;  ///< ns, over all iterations
  double all = 0;   ///< that of all layers

  double share() const { return all > 0 ? time / all : 0; }

  Evidence sum(const std::string& which) const {
    return {fmt::format("{} of {} layers {}: {}, {} of the time of all layers", layers.size(), count, which,
                        time_text(time / iterations), share_text(share())),
            {}};
  }
  /// Returns one line for each of the longest layers, followed by the text of `remark`.
  std::vector<Evidence> examples(const std::function<std::string(const Layer&)>& remark) const {
    std::vector<Evidence> lines;
    for (size_t i = 0; i < std::min(kExamples, layers.size()); ++i)
      lines.push_back(
          {fmt::format("{}: {}{}", layers[i]->name, time_text(layers[i]->time.p50), remark(*layers[i])), {}});
    return lines;
  }

  size_t count = 0;       ///< of all layers
  double iterations = 1;  ///< number of iterations that the times cover
};

Part part_of(const RuleContext& context, const std::function<bool(const Layer&)>& belongs) {
  Part part;
  part.count = context.layers.layers.size();
  for (const Layer& layer : context.layers.layers) {
    part.all += total(layer);
    part.iterations = std::max(part.iterations, static_cast<double>(layer.time.n));
    if (!belongs(layer)) continue;
    part.time += total(layer);
    part.layers.push_back(&layer);
  }
  std::stable_sort(part.layers.begin(), part.layers.end(),
                   [](const Layer* a, const Layer* b) { return a->time.p50 > b->time.p50; });
  return part;
}

void add_examples(Advice* advice, std::vector<Evidence> lines) {
  for (Evidence& line : lines) advice->evidence.push_back(std::move(line));
}

/// Returns "; 3.1x its floor", or an empty text if there is no floor.
std::string floor_remark(const Layer& layer) {
  return layer.floor > 0 ? fmt::format(", {:.1f}x its floor", layer.over_floor()) : "";
}

Ruling reference_kernels(const RuleContext& context) {
  if (context.layers.layers.empty()) return {{}, kNoLayers};
  const Part part = part_of(context, is_reference);
  if (part.layers.empty() || !context.worthwhile(part.time)) return {};
  Advice advice{
      "",
      "Some layers run on the plain kernels of the reference, which no one has made fast.",
      {part.sum("run on it")},
      "hone inspect MODEL --rivals says why no faster tactic takes them; a newer opset, fixed shapes or "
      "another precision of these nodes often does.",
      0,
      "the time of these layers beyond their floors"};
  for (const Layer* layer : part.layers)
    advice.gain += std::max(total(*layer) - layer->floor * static_cast<double>(layer->time.n), 0.0);
  add_examples(&advice, part.examples([](const Layer& layer) {
    return layer.kind.empty() ? "" : fmt::format(" ({})", layer.kind);
  }));
  return {std::move(advice), {}};
}

Ruling reorders(const RuleContext& context) {
  if (context.layers.layers.empty()) return {{}, kNoLayers};
  const Part part = part_of(context, is_reorder);
  if (part.share() < kManyReorders) return {};
  Advice advice{
      "",
      "Much of the time only rearranges tensors between layouts.",
      {part.sum("are reorders")},
      "Build with --builderOptimizationLevel 3 or more, which chooses layouts across layers; or keep a layer "
      "that forces another layout (hone inspect MODEL names it before and after each reorder) out of the "
      "middle of the network.",
      part.time,
      "the time of all reorders"};
  add_examples(&advice, part.examples([](const Layer&) { return std::string(); }));
  return {std::move(advice), {}};
}

Ruling batch_norms(const RuleContext& context) {
  if (context.layers.layers.empty()) return {{}, kNoLayers};
  const Part part = part_of(context, [](const Layer& layer) { return layer.kind == "BatchNormalization"; });
  if (!context.worthwhile(part.time)) return {};
  Advice advice{"",
                "Batch normalizations run as layers of their own instead of in the weights of a convolution.",
                {part.sum("are batch normalizations")},
                "Export the model in evaluation mode (model.eval()), with the normalization right after its "
                "convolution; hone inspect MODEL --passes says what was not folded and why.",
                part.time,
                "the time of these layers"};
  add_examples(&advice, part.examples([](const Layer&) { return std::string(); }));
  return {std::move(advice), {}};
}

/// The time that a layer's memory traffic needs, ns; 0 if it is unknown.
double memory_floor(const trace::CpuRoof& roof, const Layer& layer) {
  const double rate = roof.bandwidth_for(layer.bytes);
  return rate > 0 ? 1e9 * layer.bytes / rate : 0;
}

bool waits_for_memory(const trace::CpuRoof& roof, const Layer& layer) {
  const double memory = memory_floor(roof, layer);
  return memory > 0 && memory >= layer.floor && layer.floor > 0 && layer.time.p50 <= kNearFloor * memory;
}

Ruling memory_bound(const RuleContext& context) {
  if (context.layers.layers.empty()) return {{}, kNoLayers};
  const auto roof = roof_of(context);
  if (!roof) return {{}, kNoRoof};
  const Part part = part_of(context, [&](const Layer& layer) { return waits_for_memory(*roof, layer); });
  if (part.share() < kBigShare) return {};
  const bool wide = metadata_of(context, "precision") == "fp32";
  const bool narrower = wide && roof->flops_in("bf16") > roof->flops_in("fp32");
  Advice advice{
      "",
      "Layers wait for memory: more arithmetic units would not make them faster.",
      {part.sum("take at most twice what reading and writing their tensors takes")},
      narrower
          ? "Move fewer bytes: --precision bf16 halves them, int8 quarters them; a batch or an image that "
            "fits into the caches helps, too."
          : "Move fewer bytes: a narrower precision that the CPU computes in, a batch or an image that fits "
            "into the caches, fewer elementwise nodes between products (fusions leave out their tensors).",
      narrower ? part.time / 2 : 0,
      narrower ? "if half the bytes took half the time" : "what narrower types would cost is not known"};
  add_examples(&advice, part.examples([](const Layer& layer) {
    return fmt::format(" at {}{}", base::rate_text(layer.bytes_rate()), floor_remark(layer));
  }));
  advice.evidence.push_back({roof->text(metadata_of(context, "precision")), {}});
  return {std::move(advice), {}};
}

Ruling far_from_roof(const RuleContext& context) {
  if (context.layers.layers.empty()) return {{}, kNoLayers};
  const auto roof = roof_of(context);
  if (!roof) return {{}, kNoRoof};
  // Other rules cover reorders, reference kernels and short layers.
  const Part part = part_of(context, [](const Layer& layer) {
    return layer.over_floor() > kFarFromFloor && layer.time.p50 > kShortLayer && !is_reference(layer) &&
           !is_reorder(layer);
  });
  if (part.share() < kBigShare) return {};
  Advice advice{
      "",
      "Layers take many times as long as their arithmetic and memory traffic need.",
      {part.sum(fmt::format("take more than {:g}x their floors", kFarFromFloor))},
      "hone inspect MODEL --rivals shows what else was tried; --builderOptimizationLevel 5 tries more, and "
      "larger batches fill kernels that have little to do.",
      0,
      "if these layers reached their floors"};
  for (const Layer* layer : part.layers)
    advice.gain += total(*layer) - layer->floor * static_cast<double>(layer->time.n);
  add_examples(&advice, part.examples([](const Layer& layer) {
    return floor_remark(layer) + " (" + layer.tactic + ")";
  }));
  advice.evidence.push_back({roof->text(metadata_of(context, "precision")), {}});
  return {std::move(advice), {}};
}

Ruling small_batch(const RuleContext& context) {
  if (context.layers.layers.empty()) return {{}, kNoLayers};
  const auto roof = roof_of(context);
  if (!roof) return {{}, kNoRoof};
  if (number_of(context, "batch") != 1) return {};
  const Part part = part_of(context, [&](const Layer& layer) {
    return layer.flops > 0 && layer.flops < kFewOperations * layer.bytes && waits_for_memory(*roof, layer);
  });
  if (part.share() < kBigShare) return {};
  Advice advice{
      "",
      "At batch 1 layers read all their weights for a single input.",
      {part.sum(fmt::format("do fewer than {:g} operations a byte and wait for memory", kFewOperations))},
      "Collect several requests into a batch (hone bench MODEL --batches 1 2 4 8 shows what that gives a "
      "second, and what it costs in latency).",
      part.time / 2,
      "if two inputs shared what is read"};
  add_examples(&advice, part.examples([](const Layer& layer) {
    return fmt::format(", {:.1f} operations a byte", layer.flops / layer.bytes);
  }));
  return {std::move(advice), {}};
}

Ruling wide_precision(const RuleContext& context) {
  if (context.layers.layers.empty()) return {{}, kNoLayers};
  const auto roof = roof_of(context);
  if (!roof) return {{}, kNoRoof};
  const double wide = roof->flops_in("fp32");
  const double ratio = wide > 0 ? roof->flops_in("bf16") / wide : 0;
  constexpr double kWorthTrying = 1.5;
  if (metadata_of(context, "precision") != "fp32" || ratio < kWorthTrying) return {};
  const Part part = part_of(context, [&](const Layer& layer) {
    return layer.floor > 0 && layer.over_floor() < kFarFromFloor && !waits_for_memory(*roof, layer) &&
           layer.flops > kFewOperations * layer.bytes;
  });
  if (part.share() < kBigShare) return {};
  Advice advice{"",
                "Products run in fp32, and this CPU multiplies bf16 faster.",
                {part.sum("are near what fp32 can do"),
                 {fmt::format("bf16 multiplies {:.1f} times as fast ({})", ratio, roof->text("bf16")), {}}},
                "Measure hone bench MODEL --precisions fp32 bf16 and look at the error as well as the speed.",
                part.time * (1 - 1 / ratio),
                "if these layers became faster as the arithmetic does"};
  add_examples(&advice, part.examples(floor_remark));
  return {std::move(advice), {}};
}

/// Detects threads that were idle while a layer ran, from the CPU time of each thread.
Ruling idle_threads(const RuleContext& context, int threads) {
  double wall = 0;
  double cpu = 0;
  for (const LayerThreads& layer : context.threads.layers) {
    wall += layer.wall;
    cpu += layer.cpu;
  }
  const double at_work = wall > 0 ? cpu / wall : 0;
  if (wall <= 0 || at_work >= kFewAtWork * threads) return {};
  return {
      Advice{
          "",
          "Threads wait while layers run.",
          {{fmt::format("{:.1f} of {} threads were at work on average", at_work, threads), {}}},
          fmt::format(
              "Compare hone bench MODEL --threads {} with --threads {}, or run several requests at once with "
              "fewer threads each (--streams).",
              threads, std::max(1, threads / 2)),
          0,
          "what fewer threads would take is not known"},
      {}};
}

Ruling many_threads(const RuleContext& context) {
  if (context.layers.layers.empty()) return {{}, kNoLayers};
  const int threads = number_of(context, "threads");
  if (threads < 2) return {};
  const Part part = part_of(context, [](const Layer& layer) { return layer.time.p50 < kShortLayer; });
  if (part.share() >= kBigShare) {
    Advice advice{
        "",
        "Many layers are so short that sharing them among threads costs more than it saves.",
        {part.sum(fmt::format("take less than {} each", time_text(kShortLayer))),
         {fmt::format("{} threads share them", threads), {}}},
        "Compare hone bench MODEL --threads 1 with this; serve several requests at once with one thread each "
        "(--streams).",
        0,
        "what one thread would take is not known"};
    return {std::move(advice), {}};
  }
  if (context.threads.layers.empty())
    return {{}, "how much each thread worked was not recorded (hone profile --counters)"};
  return idle_threads(context, threads);
}

constexpr std::array<Rule, 8> kRules = {{{"reference-kernels", reference_kernels, true, true},
                                         {"reorders", reorders, true, true},
                                         {"batch-norms", batch_norms, true, true},
                                         {"memory-bound", memory_bound, true, true},
                                         {"far-from-roof", far_from_roof, true, true},
                                         {"small-batch", small_batch, true, true},
                                         {"wide-precision", wide_precision, true, true},
                                         {"many-threads", many_threads, true, true}}};

}  // namespace

std::span<const Rule> cpu_rules() { return kRules; }

}  // namespace hone::analysis
