// See layer_reasons.hpp.
#include "analysis/questions/layer_reasons.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "analysis/names.hpp"
#include "base/json.hpp"
#include "base/units.hpp"

namespace hone::analysis {
namespace {

using Layers = std::vector<const Layer*>;

constexpr size_t kMostKernels = 2;

/// Types in the notations of hone ("float16 1x64x56x56") and TensorRT ("1x64x56x56 Channel-last linear FP16
/// format"). A name that contains another one comes first.
struct TypeName {
  std::string_view text;
  std::string_view precision;
};
constexpr std::array<TypeName, 14> kTypes = {{{"bfloat16", "bf16"},
                                              {"BFloat16", "bf16"},
                                              {"BF16", "bf16"},
                                              {"float16", "fp16"},
                                              {"Half", "fp16"},
                                              {"FP16", "fp16"},
                                              {"fp16", "fp16"},
                                              {"float32", "fp32"},
                                              {"Float", "fp32"},
                                              {"FP32", "fp32"},
                                              {"fp32", "fp32"},
                                              {"uint8", "int8"},
                                              {"int8", "int8"},
                                              {"Int8", "int8"}}};

bool only_reformats(const Layer& layer) {
  return layer.kind == "Reformat" || layer.kind == "Reorder" ||
         layer.name.starts_with("Reformatting CopyNode");
}

/// Precisions of the layers' outputs, except layers that only reformat.
std::set<std::string> precisions(const Layers& layers) {
  std::set<std::string> found;
  for (const Layer* layer : layers) {
    if (only_reformats(*layer)) continue;
    const Json outputs = Json::parse(layer->outputs, nullptr, false);
    if (!outputs.is_array()) continue;
    for (const Json& output : outputs) {
      const std::string text = output.is_string() ? output.get<std::string>() : "";
      const auto type = std::ranges::find_if(
          kTypes, [&](const TypeName& name) { return text.find(name.text) != std::string::npos; });
      if (type != kTypes.end()) found.emplace(type->precision);
    }
  }
  return found;
}

struct Reformats {
  int64_t count = 0;
  double ns = 0;
};

Reformats reformats(const Layers& layers) {
  Reformats sum;
  for (const Layer* layer : layers) {
    if (!only_reformats(*layer)) continue;
    ++sum.count;
    sum.ns += layer->time.mean;
  }
  return sum;
}

std::string counted(int64_t count, std::string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

void add_reformats(const char* side, const Layers& layers, std::vector<std::string>& reasons) {
  const Reformats sum = reformats(layers);
  if (sum.count == 0) return;
  reasons.push_back(fmt::format("{} spends {} in {} that only reformat{}", side, base::time_text(sum.ns),
                                counted(sum.count, "layer"), sum.count == 1 ? "s" : ""));
}

/// The kernels of the layers or, if none were recorded, their tactics.
std::vector<std::string> kernels(const Layers& layers) {
  std::vector<std::string> names;
  const auto add = [&](const std::string& name) {
    if (!name.empty() && std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  };
  for (const Layer* layer : layers) {
    if (only_reformats(*layer)) continue;
    for (const LayerKernel& kernel : layer->kernels) add(base_name(kernel.name));
    if (layer->kernels.empty()) add(layer->tactic);
  }
  return names;
}

std::string kernels_text(const char* side, std::vector<std::string> names) {
  const size_t all = names.size();
  if (all > kMostKernels) names.resize(kMostKernels);
  const std::string more = all > kMostKernels ? fmt::format(" and {} more", all - kMostKernels) : "";
  return fmt::format("{} runs {}{}", side, fmt::join(names, ", "), more);
}

}  // namespace

std::vector<std::string> layer_reasons(const Layers& a, const Layers& b) {
  std::vector<std::string> reasons;
  if (a.empty() || b.empty()) return {fmt::format("only {} has such layers", a.empty() ? "B" : "A")};
  const std::set<std::string> of_a = precisions(a);
  const std::set<std::string> of_b = precisions(b);
  if (!of_a.empty() && !of_b.empty() && of_a != of_b)
    reasons.push_back(fmt::format("A makes {}, B {}", fmt::join(of_a, " and "), fmt::join(of_b, " and ")));
  add_reformats("A", a, reasons);
  add_reformats("B", b, reasons);
  const auto count_a = static_cast<int64_t>(a.size()) - reformats(a).count;
  const auto count_b = static_cast<int64_t>(b.size()) - reformats(b).count;
  if (count_a != count_b)
    reasons.push_back(fmt::format("A computes it in {}, B in {}", counted(count_a, "layer"), count_b));
  const std::vector<std::string> kernels_a = kernels(a);
  const std::vector<std::string> kernels_b = kernels(b);
  if (!kernels_a.empty() && !kernels_b.empty() && kernels_a != kernels_b)
    reasons.push_back(kernels_text("A", kernels_a) + "; " + kernels_text("B", kernels_b));
  return reasons;
}

}  // namespace hone::analysis
