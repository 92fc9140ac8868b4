// Graphs of one fused node each: every fused operator with every kind of epilogue, of which a device has
// kernels for some only.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "graph/post_op.hpp"
#include "support/graph_builder.hpp"

namespace hone::test {

struct FusedForm {
  std::string name;
  Graph graph;
};

/// Post-ops in order. What a binary one takes is as large as the result ("add"), one number for each channel
/// ("mul:channel"), one alone ("sub:one"), or one for each of the last axis ("add:last").
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

/// Attributes of an activation in a node of several parts.
inline void add_activation(AttributeList& attributes, const std::string& prefix, const std::string& op) {
  attributes.emplace_back(prefix + "post_ops", std::vector<std::string>{op});
  attributes.emplace_back(prefix + "post_alphas", std::vector<float>{0.2f});
  attributes.emplace_back(prefix + "post_betas", std::vector<float>{0.6f});
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

/// The operators that are patterns of several nodes, with an activation that few kernels have.
inline void add_patterns(std::vector<FusedForm>& forms, const std::string& activation) {
  using Ints = std::vector<int64_t>;
  const auto add = [&](const std::string& op,
                       const std::function<std::vector<ValueId>(GraphBuilder&)>& make) {
    GraphBuilder b;
    const std::vector<ValueId> results = make(b);
    forms.push_back({fmt::format("{}, {}", op, activation), b.finish(results)});
  };
  const AttributeList pool = {{"pads", Ints{3, 3, 3, 3}},
                              {"strides", Ints{2, 2}},
                              {"pool_kernel_shape", Ints{3, 3}},
                              {"pool_strides", Ints{2, 2}},
                              {"pool_pads", Ints{1, 1, 1, 1}}};
  const auto stem_inputs = [](GraphBuilder& b) {
    return std::vector<ValueId>{b.input("x", {1, 3, 32, 32}), b.random({64, 3, 7, 7}, -0.1, 0.1),
                                b.random({64})};
  };
  add("FusedConvMaxPool", [&](GraphBuilder& b) {
    return std::vector<ValueId>{
        fused_node(b, "FusedConvMaxPool", stem_inputs(b), 3, {1, 64, 16, 16}, {activation}, pool)};
  });
  add("FusedStem", [&](GraphBuilder& b) {
    std::vector<ValueId> inputs = stem_inputs(b);
    inputs.insert(inputs.end(), {b.random({64, 64, 1, 1}, -0.1, 0.1), b.random({64})});
    AttributeList attributes = pool;
    for (const char* prefix : {"", "next_"}) add_activation(attributes, prefix, activation);
    return b.nodes("FusedStem", inputs, 2, attributes);
  });
  add("FusedConvGlobalPool", [&](GraphBuilder& b) {
    return std::vector<ValueId>{fused_node(
        b, "FusedConvGlobalPool", {b.input("x", {2, 16, 7, 7}), b.random({32, 16, 1, 1}), b.random({32})}, 3,
        {2, 32, 7, 7}, {"add", activation})};
  });
  add("FusedSqueezeExcite", [&](GraphBuilder& b) {
    AttributeList attributes;
    for (const char* prefix : {"squeeze_", "gate_"}) add_activation(attributes, prefix, activation);
    return b.nodes("FusedSqueezeExcite",
                   {b.input("x", {2, 16, 6, 6}), b.random({8, 16, 1, 1}), b.random({16, 8, 1, 1}),
                    b.random({8}), b.random({16})},
                   1, attributes);
  });
  for (const bool projects : {false, true}) {
    add(projects ? "FusedBottleneck with a projection" : "FusedBottleneck", [&](GraphBuilder& b) {
      AttributeList attributes;
      for (const char* prefix : {"window_", "wide_", "narrow_"})
        add_activation(attributes, prefix, activation);
      std::vector<ValueId> inputs = {b.input("x", {1, 16, 8, 8}),
                                     b.random({16, 16, 3, 3}, -0.2, 0.2),
                                     b.random({64, 16, 1, 1}),
                                     b.random({16, 64, 1, 1}, -0.2, 0.2),
                                     b.input("shortcut", {1, projects ? 16 : 64, 8, 8}),
                                     b.random({16}),
                                     kNoValue,
                                     b.random({16})};
      if (projects) inputs.insert(inputs.end(), {b.random({64, 16, 1, 1}), b.random({64})});
      return b.nodes("FusedBottleneck", inputs, 2, attributes);
    });
  }
  add("FusedConvSum", [&](GraphBuilder& b) {
    AttributeList attributes = {
        {"pads", Ints{1, 1, 1, 1}}, {"strides", Ints{2, 2}}, {"second_strides", Ints{2, 2}}};
    add_activation(attributes, "", activation);
    return b.nodes("FusedConvSum",
                   {b.input("x", {1, 16, 8, 8}), b.random({32, 16, 3, 3}, -0.2, 0.2),
                    b.input("y", {1, 8, 8, 8}), b.random({32, 8, 1, 1}), b.random({32})},
                   1, attributes);
  });
}

inline std::vector<FusedForm> fused_forms() {
  std::vector<FusedForm> forms;
  add_chains(forms);
  for (const char* activation : {"relu", "hard_swish", "mish"}) add_patterns(forms, activation);
  return forms;
}

}  // namespace hone::test
