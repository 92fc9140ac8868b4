// See equalization.hpp.
#include "quantize/equalization.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>

#include "base/error.hpp"
#include "graph/operator.hpp"

namespace hone::quantize {
namespace {

using graph::Graph;
using graph::kNoValue;
using graph::Node;
using graph::Tensor;
using graph::ValueId;

constexpr int kMostSweeps = 40;
constexpr double kSettled = 1e-3;
/// Limit on factors, within which float32 keeps its precision.
constexpr double kMostFactor = 1e4;

/// The axis of weights along which entries belong to the channels that a layer reads. A depthwise convolution
/// has one filter for each channel.
int64_t reading_axis(const Node& node, const Tensor& weights) {
  if (node.op == "Conv") return node.attributes.get_int("group") > 1 ? 0 : 1;
  if (node.op == "Gemm") return node.attributes.get_int("transB") != 0 ? 1 : 0;
  return weights.rank() - 2;
}
int64_t making_axis(const Node& node) {
  if (node.op == "Conv") return 0;
  return node.op == "Gemm" && node.attributes.get_int("transB") != 0 ? 0 : 1;
}

bool is_depthwise(const Node& node, const Tensor& weights) {
  return node.attributes.get_int("group") == weights.shape()[0] && weights.shape()[1] == 1;
}

/// Calls f with the channel along `axis` and the index of every element.
template <class F>
void for_each_element(const Tensor& tensor, int64_t axis, F&& f) {
  size_t inner = 1;
  for (auto i = static_cast<size_t>(axis) + 1; i < tensor.shape().size(); ++i)
    inner *= static_cast<size_t>(tensor.shape()[i]);
  const auto channels = static_cast<size_t>(tensor.shape()[static_cast<size_t>(axis)]);
  for (size_t i = 0; i < static_cast<size_t>(tensor.size()); ++i) f(i / inner % channels, i);
}

std::vector<double> largest_of(const Tensor& tensor, int64_t axis) {
  std::vector<double> largest(static_cast<size_t>(tensor.shape()[static_cast<size_t>(axis)]));
  const auto values = tensor.values<float>();
  for_each_element(tensor, axis, [&](size_t channel, size_t i) {
    largest[channel] = std::max(largest[channel], std::fabs(static_cast<double>(values[i])));
  });
  return largest;
}

/// Multiplies by the factors if `sign` is 1, divides if it is -1.
Tensor scaled(const Tensor& tensor, int64_t axis, const std::vector<double>& factors, int sign) {
  Tensor result(tensor.dtype(), tensor.shape());
  const auto from = tensor.values<float>();
  const auto to = result.mutable_values<float>();
  for_each_element(tensor, axis, [&](size_t channel, size_t i) {
    const double factor = sign > 0 ? factors[channel] : 1 / factors[channel];
    to[i] = static_cast<float>(static_cast<double>(from[i]) * factor);
  });
  return result;
}

class Finder {
 public:
  Finder(const Graph& graph, const Placement& placement) : graph_(graph), links_(graph) {
    for (const WeightedNode& weighted : placement.weighted) weighted_.insert(weighted.node);
  }

  std::vector<EqualizationSite> run() const {
    std::vector<EqualizationSite> sites;
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      const auto index = static_cast<int32_t>(i);
      if (auto site = weighted_.contains(index) ? cross_layer(index) : smooth(index))
        sites.push_back(std::move(*site));
    }
    return sites;
  }

 private:
  const Node& node(int32_t index) const { return graph_.nodes[static_cast<size_t>(index)]; }

  bool is_vector(ValueId id, int64_t size) const {
    const Tensor* constant = graph_.constant(id);
    return constant != nullptr && constant->dtype() == tensor::DType::kFloat32 && constant->size() == size &&
           constant->rank() > 0 && constant->shape().back() == size;
  }

  std::optional<EqualizationSite> cross_layer(int32_t index) const {
    const Node& maker = node(index);
    if (maker.op != "Conv" && maker.op != "Gemm") return std::nullopt;
    const Tensor& weights = *graph_.constant(maker.inputs[1]);
    const int64_t channels = weights.shape()[static_cast<size_t>(making_axis(maker))];
    if (maker.has_input(2) && !is_vector(maker.inputs[2], channels)) return std::nullopt;
    ValueId id = maker.outputs[0];
    for (;;) {
      const int32_t reader = links_.single_consumer(id);
      if (reader < 0) return std::nullopt;
      const Node& next = node(reader);
      if (graph::traits_of(next).scales_with_input && next.outputs.size() == 1) {
        id = next.outputs[0];
        continue;
      }
      if (!weighted_.contains(reader) || next.op != maker.op || !reads(next, id, channels))
        return std::nullopt;
      return EqualizationSite{
          EqualizationSite::Kind::kCrossLayer, maker.outputs[0], channels, index, {reader}};
    }
  }

  /// True if the layer reads the value with weights that have one entry for each channel.
  bool reads(const Node& layer, ValueId id, int64_t channels) const {
    if (layer.op == "ConvTranspose" || layer.inputs[0] != id || layer.input(1) == id) return false;
    const Tensor& weights = *graph_.constant(layer.inputs[1]);
    if (layer.op == "Conv" && layer.attributes.get_int("group") > 1 && !is_depthwise(layer, weights))
      return false;
    return weights.shape()[static_cast<size_t>(reading_axis(layer, weights))] == channels;
  }

  /// Finds a node with a gain, and perhaps an offset, for each channel of the last axis.
  std::optional<EqualizationSite> smooth(int32_t index) const {
    const Node& maker = node(index);
    const bool is_norm = maker.op == "LayerNormalization" && maker.outputs.size() == 1;
    const bool is_sum = maker.op == "Add";
    if (!is_norm && !is_sum) return std::nullopt;
    const ValueId id = maker.outputs[0];
    EqualizationSite site{EqualizationSite::Kind::kSmooth, id, 0, index,
                          links_.consumers[static_cast<size_t>(id)]};
    if (site.readers.empty() || links_.is_output[static_cast<size_t>(id)]) return std::nullopt;
    for (const int32_t reader : site.readers) {
      const Node& layer = node(reader);
      if (!weighted_.contains(reader) || layer.op == "Conv" || layer.op == "ConvTranspose")
        return std::nullopt;
      const Tensor& weights = *graph_.constant(layer.inputs[1]);
      site.channels = weights.shape()[static_cast<size_t>(reading_axis(layer, weights))];
      if (!reads(layer, id, site.channels)) return std::nullopt;
    }
    if (is_norm) {
      const bool good = is_vector(maker.inputs[1], site.channels) &&
                        (!maker.has_input(2) || is_vector(maker.inputs[2], site.channels));
      return good ? std::optional(site) : std::nullopt;
    }
    return gain_before(maker, site.channels) >= 0 ? std::optional(site) : std::nullopt;
  }

 public:
  /// For a sum with a constant, returns the product with a constant that it adds to; -1 if there is none.
  int32_t gain_before(const Node& sum, int64_t channels) const {
    for (size_t i = 0; i < 2; ++i) {
      if (!is_vector(sum.inputs[1 - i], channels)) continue;
      const int32_t producer = links_.producer_of(sum.inputs[i]);
      if (producer < 0 || links_.single_consumer(sum.inputs[i]) < 0) continue;
      const Node& gain = node(producer);
      if (gain.op == "Mul" && (is_vector(gain.inputs[0], channels) || is_vector(gain.inputs[1], channels)))
        return producer;
    }
    return -1;
  }

 private:
  const Graph& graph_;
  graph::Links links_;
  std::set<int32_t> weighted_;
};

/// Gives nodes their own copies of constants, so that other nodes that share them do not change.
class Rewriter {
 public:
  Rewriter(const Graph& graph, const Placement& placement) : finder_(graph, placement), result_(graph) {}

  void apply(const EqualizationSite& site, const std::vector<double>& factors) {
    const Node& maker = result_.nodes[static_cast<size_t>(site.maker)];
    if (site.kind == EqualizationSite::Kind::kCrossLayer) {
      scale(site.maker, 1, making_axis(maker), factors, -1);
      if (maker.has_input(2)) scale_last(site.maker, 2, factors);
    } else if (maker.op == "LayerNormalization") {
      scale_last(site.maker, 1, factors);
      if (maker.has_input(2)) scale_last(site.maker, 2, factors);
    } else {
      scale_constants(finder_.gain_before(maker, site.channels), factors);
      scale_constants(site.maker, factors);
    }
    for (const int32_t reader : site.readers) {
      const Node& layer = result_.nodes[static_cast<size_t>(reader)];
      scale(reader, 1, reading_axis(layer, *result_.constant(layer.inputs[1])), factors, 1);
    }
  }
  Graph take() { return std::move(result_); }

 private:
  void scale(int32_t index, size_t input, int64_t axis, const std::vector<double>& factors, int sign) {
    const ValueId id = result_.nodes[static_cast<size_t>(index)].inputs[input];
    // Initializers are written under these names, so two with the same name would become one.
    const std::string name = fmt::format("{}_equalized_{}", result_.value(id).name, result_.values.size());
    const ValueId own = result_.add_constant(name, scaled(*result_.constant(id), axis, factors, sign));
    result_.nodes[static_cast<size_t>(index)].inputs[input] = own;
  }
  void scale_last(int32_t index, size_t input, const std::vector<double>& factors) {
    const ValueId id = result_.nodes[static_cast<size_t>(index)].inputs[input];
    scale(index, input, result_.constant(id)->rank() - 1, factors, -1);
  }
  /// Scales the constant operand of a sum or product.
  void scale_constants(int32_t index, const std::vector<double>& factors) {
    for (size_t input = 0; input < 2; ++input) {
      const Tensor* constant = result_.constant(result_.nodes[static_cast<size_t>(index)].inputs[input]);
      if (constant != nullptr && constant->size() == static_cast<int64_t>(factors.size()))
        return scale_last(index, input, factors);
    }
  }

  Finder finder_;
  Graph result_;
};

void multiply(std::vector<double>& target, const std::vector<double>& factors, int sign) {
  for (size_t c = 0; c < target.size(); ++c) target[c] *= sign > 0 ? factors[c] : 1 / factors[c];
}

}  // namespace

std::vector<EqualizationSite> equalization_sites(const Graph& graph, const Placement& placement) {
  return Finder(graph, placement).run();
}

Graph with_equalization(const Graph& graph, const Placement& placement, const Equalization& equalization) {
  if (equalization.empty()) return graph;
  const std::vector<EqualizationSite> sites = equalization_sites(graph, placement);
  Rewriter rewriter(graph, placement);
  for (const EqualizedValue& one : equalization) {
    const auto site =
        std::ranges::find_if(sites, [&](const auto& s) { return graph.value(s.value).name == one.name; });
    if (site == sites.end()) fail_bad_input("tensor '{}' cannot be equalized in this model", one.name);
    if (one.factors.size() != static_cast<size_t>(site->channels))
      fail_bad_input("tensor '{}' has {} channels, and factors to equalize {}", one.name, site->channels,
                     one.factors.size());
    if (!std::ranges::all_of(one.factors, [](double f) { return f >= 1 / kMostFactor && f <= kMostFactor; }))
      fail_bad_input("tensor '{}' has a factor to equalize by that is not between {} and {}", one.name,
                     1 / kMostFactor, kMostFactor);
    rewriter.apply(*site, one.factors);
  }
  return rewriter.take();
}

Equalization cross_layer_factors(const Graph& graph, const std::vector<EqualizationSite>& sites) {
  Equalization result;
  std::vector<EqualizationSite> chosen;
  // Weights that two sites change are stored once, so that both changes apply.
  std::map<int32_t, Tensor> weights;
  for (const EqualizationSite& site : sites) {
    if (site.kind != EqualizationSite::Kind::kCrossLayer) continue;
    for (const int32_t index : {site.maker, site.readers[0]})
      weights.emplace(index, *graph.constant(graph.nodes[static_cast<size_t>(index)].inputs[1]));
    result.push_back(
        {graph.value(site.value).name, std::vector<double>(static_cast<size_t>(site.channels), 1)});
    chosen.push_back(site);
  }
  double moved = 1;
  for (int sweep = 0; sweep < kMostSweeps && moved > kSettled; ++sweep) {
    moved = 0;
    for (size_t i = 0; i < chosen.size(); ++i) {
      Tensor& first = weights.at(chosen[i].maker);
      Tensor& second = weights.at(chosen[i].readers[0]);
      const int64_t making = making_axis(graph.nodes[static_cast<size_t>(chosen[i].maker)]);
      const int64_t reading = reading_axis(graph.nodes[static_cast<size_t>(chosen[i].readers[0])], second);
      const std::vector<double> r1 = largest_of(first, making);
      const std::vector<double> r2 = largest_of(second, reading);
      std::vector<double> factors(r1.size(), 1);
      for (size_t c = 0; c < factors.size(); ++c) {
        if (r1[c] <= 0 || r2[c] <= 0) continue;
        const double before = result[i].factors[c];
        const double wanted = std::clamp(before * std::sqrt(r1[c] / r2[c]), 1 / kMostFactor, kMostFactor);
        factors[c] = wanted / before;
        moved = std::max(moved, std::fabs(std::log(factors[c])));
      }
      first = scaled(first, making, factors, -1);
      second = scaled(second, reading, factors, 1);
      multiply(result[i].factors, factors, 1);
    }
  }
  return result;
}

Equalization smooth_factors(const Graph& graph, const std::vector<EqualizationSite>& sites,
                            const std::vector<std::vector<double>>& largest, double alpha) {
  Equalization result;
  for (size_t i = 0; i < sites.size(); ++i) {
    if (sites[i].kind != EqualizationSite::Kind::kSmooth) continue;
    std::vector<double> weights(static_cast<size_t>(sites[i].channels));
    for (const int32_t reader : sites[i].readers) {
      const Node& layer = graph.nodes[static_cast<size_t>(reader)];
      const Tensor& tensor = *graph.constant(layer.inputs[1]);
      const std::vector<double> one = largest_of(tensor, reading_axis(layer, tensor));
      for (size_t c = 0; c < weights.size(); ++c) weights[c] = std::max(weights[c], one[c]);
    }
    EqualizedValue value{graph.value(sites[i].value).name, std::vector<double>(weights.size(), 1)};
    for (size_t c = 0; c < weights.size(); ++c) {
      if (weights[c] <= 0 || largest[i][c] <= 0) continue;
      value.factors[c] = std::clamp(std::pow(largest[i][c], alpha) / std::pow(weights[c], 1 - alpha),
                                    1 / kMostFactor, kMostFactor);
    }
    result.push_back(std::move(value));
  }
  return result;
}

}  // namespace hone::quantize
