// Graphs of one fused node each: every fused operator with every kind of epilogue, of which a device has
// kernels for some only, and every kind of region.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "graph/post_op.hpp"
#include "support/graph_builder.hpp"
#include "support/regions.hpp"

namespace hone::test {

struct FusedForm {
  std::string name;
  Graph graph;
};

/// Post-ops in order. The operand of a binary one is as large as the result ("add"), one number for each
/// channel ("mul:channel"), a single one ("sub:one"), or one for each of the last axis ("add:last").
using Epilogue = std::vector<std::string>;

inline const std::vector<Epilogue>& epilogues() {
  static const std::vector<Epilogue> kEpilogues = [] {
    std::vector<Epilogue> all = {{"relu"},
                                 {"leaky_relu"},
                                 {"clip"},
                                 {"sigmoid"},
                                 {"tanh"},
                                 {"hard_swish"},
                                 {"hard_sigmoid"},
                                 {"swish"},
                                 {"elu"},
                                 {"gelu_erf"},
                                 {"gelu_tanh"},
                                 {"softplus"},
                                 {"mish"},
                                 {"add"},
                                 {"mul:channel"},
                                 {"sub:one"},
                                 {"add:last"},
                                 {"relu", "hard_swish"},
                                 {"hard_swish", "add", "relu"},
                                 {"add", "mish"},
                                 {"mul:channel", "softplus", "add:last", "tanh"}};
    // As many as a step may hold.
    Epilogue& longest = all.emplace_back();
    while (longest.size() < 32) longest.insert(longest.end(), {"add", "tanh"});
    return all;
  }();
  return kEpilogues;
}

/// Adds a node of that operator with post-ops behind it, whose operands follow its inputs, `first_extra` of
/// them at least. `result` is its shape.
inline ValueId fused_node(GraphBuilder& b, const std::string& op, std::vector<ValueId> inputs,
                          size_t first_extra, const Shape& result, const Epilogue& epilogue,
                          AttributeList attributes = {}) {
  std::vector<std::string> names;
  for (const std::string& step : epilogue) {
    const size_t colon = std::min(step.find(':'), step.size());
    const std::string kind = step.substr(colon);
    names.push_back(step.substr(0, colon));
    if (!graph::is_binary(*graph::find_post_op(names.back()))) continue;
    if (inputs.size() < first_extra) inputs.resize(first_extra, kNoValue);
    Shape channel(result.size(), 1);
    channel[1] = result[1];
    if (kind == ":channel") {
      inputs.push_back(b.random(channel));
    } else if (kind == ":one") {
      inputs.push_back(b.scalar(0.25f));
    } else if (kind == ":last") {
      inputs.push_back(b.random({result.back()}));
    } else {
      inputs.push_back(b.input(fmt::format("extra{}", inputs.size()), Dims(result.begin(), result.end())));
    }
  }
  const auto count = names.size();
  attributes.emplace_back("post_ops", std::move(names));
  attributes.emplace_back("post_alphas", std::vector<float>(count, 0.2f));
  attributes.emplace_back("post_betas", std::vector<float>(count, 0.6f));
  return b.node(op, std::move(inputs), attributes);
}

/// A base operator, or none, with each of the epilogues.
inline void add_chains(std::vector<FusedForm>& forms) {
  using Make = std::function<ValueId(GraphBuilder&, const Epilogue&)>;
  using Ints = std::vector<int64_t>;
  const AttributeList window = {{"pads", Ints{1, 1, 1, 1}}};
  const auto convolution = [=](int64_t group) -> Make {
    return [=](GraphBuilder& b, const Epilogue& epilogue) {
      AttributeList attributes = window;
      attributes.emplace_back("group", group);
      return fused_node(
          b, "FusedConv",
          {b.input("x", {2, 16, 6, 6}), b.random({16, 16 / group, 3, 3}, -0.3, 0.3), b.random({16})}, 3,
          {2, 16, 6, 6}, epilogue, attributes);
    };
  };
  const std::vector<std::pair<std::string, Make>> bases = {
      {"convolution", convolution(1)},
      {"grouped convolution", convolution(4)},
      {"depthwise convolution", convolution(16)},
      {"convolution without a bias",
       [](GraphBuilder& b, const Epilogue& epilogue) {
         return fused_node(b, "FusedConv", {b.input("x", {1, 8, 5, 5}), b.random({16, 8, 1, 1})}, 3,
                           {1, 16, 5, 5}, epilogue);
       }},
      {"layer",
       [](GraphBuilder& b, const Epilogue& epilogue) {
         return fused_node(b, "FusedGemm", {b.input("x", {4, 24}), b.random({24, 16}), b.random({16})}, 3,
                           {4, 16}, epilogue);
       }},
      {"layer of a transposed matrix",
       [](GraphBuilder& b, const Epilogue& epilogue) {
         return fused_node(b, "FusedGemm", {b.input("x", {4, 24}), b.random({16, 24}), b.random({16})}, 3,
                           {4, 16}, epilogue, {{"transB", int64_t{1}}});
       }},
      {"layer of variables",
       [](GraphBuilder& b, const Epilogue& epilogue) {
         return fused_node(b, "FusedGemm", {b.input("x", {4, 24}), b.input("y", {24, 16}), b.random({16})}, 3,
                           {4, 16}, epilogue);
       }},
      {"product by a constant",
       [](GraphBuilder& b, const Epilogue& epilogue) {
         return fused_node(b, "FusedMatMul", {b.input("x", {2, 3, 24}), b.random({24, 16}), b.random({16})},
                           3, {2, 3, 16}, epilogue);
       }},
      {"product of variables",
       [](GraphBuilder& b, const Epilogue& epilogue) {
         return fused_node(b, "FusedMatMul", {b.input("x", {2, 3, 8}), b.input("y", {2, 8, 16})}, 3,
                           {2, 3, 16}, epilogue);
       }},
      {"product of variables with a bias",
       [](GraphBuilder& b, const Epilogue& epilogue) {
         return fused_node(b, "FusedMatMul", {b.input("x", {3, 8}), b.input("y", {8, 16}), b.random({16})}, 3,
                           {3, 16}, epilogue);
       }},
      {"image",
       [](GraphBuilder& b, const Epilogue& epilogue) {
         return fused_node(b, "FusedElementwise", {b.input("x", {2, 16, 6, 6})}, 1, {2, 16, 6, 6}, epilogue);
       }},
  };
  for (const auto& [name, make] : bases) {
    for (const Epilogue& epilogue : epilogues()) {
      GraphBuilder b;
      const ValueId result = make(b, epilogue);
      forms.push_back(
          {fmt::format("{}, {} and {} more", name, epilogue[0], epilogue.size() - 1), b.finish({result})});
    }
  }
}

/// Every kind of region, with an activation that few kernels have.
inline void add_regions(std::vector<FusedForm>& forms, const std::string& activation) {
  using Ints = std::vector<int64_t>;
  using Strings = std::vector<std::string>;
  using Make = std::function<std::vector<ValueId>(GraphBuilder&)>;
  const auto built = [](const Make& make) {
    GraphBuilder b;
    return b.finish(make(b));
  };
  const auto add = [&](const std::string& name, Graph graph) {
    forms.push_back({fmt::format("{}, {}", name, activation), std::move(graph)});
  };
  // A convolution that keeps the size of its image, and the activation, also after an addition.
  const auto conv = [&](GraphBuilder& b, ValueId x, const Shape& filters, ValueId addend = kNoValue) {
    std::vector<ValueId> inputs = {x, b.random(filters, -0.2, 0.2), b.random({filters[0]})};
    if (addend != kNoValue) inputs.push_back(addend);
    const Strings ops = addend == kNoValue ? Strings{activation} : Strings{"add", activation};
    return b.node("FusedConv", inputs,
                  {{"pads", Ints(4, filters[2] / 2)},
                   {"post_ops", ops},
                   {"post_alphas", std::vector<float>(ops.size(), 0.2f)},
                   {"post_betas", std::vector<float>(ops.size(), 0.6f)}});
  };
  const auto pooled = [&](GraphBuilder& b) {
    const ValueId image = fused_node(
        b, "FusedConv", {b.input("x", {1, 3, 32, 32}), b.random({64, 3, 7, 7}, -0.1, 0.1), b.random({64})}, 3,
        {1, 64, 16, 16}, {activation}, {{"pads", Ints(4, 3)}, {"strides", Ints{2, 2}}});
    return b.node("MaxPool", {image},
                  {{"kernel_shape", Ints{3, 3}}, {"strides", Ints{2, 2}}, {"pads", Ints(4, 1)}});
  };
  add("conv_max_pool", as_region(built([&](GraphBuilder& b) { return std::vector{pooled(b)}; }),
                                 "conv_max_pool", {"conv", "pool"}));
  Graph stem = built([&](GraphBuilder& b) {
    const ValueId image = pooled(b);
    return std::vector{image, conv(b, image, {64, 64, 1, 1})};
  });
  fold_region(stem, "conv_max_pool", {"conv", "pool"}, {stem.outputs[0]});
  add("stem", as_region(stem, "stem", {"pooled", "next"}));
  add("conv_global_pool", as_region(built([&](GraphBuilder& b) {
                                      const ValueId image = conv(b, b.input("x", {2, 16, 7, 7}),
                                                                 {32, 16, 1, 1}, b.input("z", {2, 32, 7, 7}));
                                      return std::vector{b.node("GlobalAveragePool", {image})};
                                    }),
                                    "conv_global_pool", {"conv", "pool"}));
  add("squeeze_excite",
      as_region(built([&](GraphBuilder& b) {
                  const ValueId x = b.input("x", {2, 16, 6, 6});
                  const ValueId hidden = conv(b, b.node("GlobalAveragePool", {x}), {8, 16, 1, 1});
                  return std::vector{b.node("Mul", {x, conv(b, hidden, {16, 8, 1, 1})})};
                }),
                "squeeze_excite", {"pool", "squeeze", "gate", "product"}));
  add("bottleneck",
      as_region(built([&](GraphBuilder& b) {
                  const ValueId window = conv(b, b.input("x", {1, 16, 8, 8}), {16, 16, 3, 3});
                  const ValueId wide = conv(b, window, {64, 16, 1, 1}, b.input("shortcut", {1, 64, 8, 8}));
                  return std::vector{wide, conv(b, wide, {16, 64, 1, 1})};
                }),
                "bottleneck", {"window", "expand", "next"}));
  add("bottleneck with a projection",
      as_region(built([&](GraphBuilder& b) {
                  const ValueId window = conv(b, b.input("x", {1, 16, 8, 8}), {16, 16, 3, 3});
                  const ValueId expanded = b.node("Conv", {window, b.random({64, 16, 1, 1})});
                  const ValueId wide = conv(b, b.input("shortcut", {1, 16, 8, 8}), {64, 16, 1, 1}, expanded);
                  return std::vector{wide, conv(b, wide, {16, 64, 1, 1})};
                }),
                "bottleneck", {"window", "expand", "project", "next"}));
  add("conv_sum",
      as_region(built([&](GraphBuilder& b) {
                  const ValueId shortcut =
                      b.node("Conv", {b.input("y", {1, 8, 16, 16}), b.random({32, 8, 1, 1})},
                             {{"strides", Ints{2, 2}}});
                  return std::vector{conv(b, b.input("x", {1, 16, 8, 8}), {32, 16, 3, 3}, shortcut)};
                }),
                "conv_sum", {"shortcut", "sum"}));
}

inline std::vector<FusedForm> fused_forms() {
  std::vector<FusedForm> forms;
  add_chains(forms);
  for (const char* activation : {"relu", "hard_swish", "mish"}) add_regions(forms, activation);
  return forms;
}

}  // namespace hone::test
