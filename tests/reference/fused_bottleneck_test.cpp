// A FusedBottleneck gives what its convolutions, the addition and the activations give one by one.
#include "reference/single_node.hpp"

namespace hone::reference {
namespace {

using Attributes = std::vector<std::pair<std::string, graph::Attribute>>;
using Strings = std::vector<std::string>;
using Floats = std::vector<float>;
using tensor::Tensor;

/// Inputs in the operator's order, each of other sizes than the rest.
constexpr size_t kShortcut = 4, kWindowBias = 5, kProjection = 8, kProjectionBias = 9;

std::vector<Tensor> all_inputs(bool projects) {
  std::vector<Tensor> inputs = {ramp({2, 3, 4, 5}, -3, 0.05f),
                                ramp({2, 3, 3, 3}, -1, 0.04f),
                                ramp({5, 2, 1, 1}, -0.9f, 0.2f),
                                ramp({4, 5, 1, 1}, -0.8f, 0.1f),
                                ramp({2, 5, 4, 5}, -30, 0.3f),
                                ramp({2}, -1, 1.5f),
                                ramp({5}, -2, 0.9f),
                                ramp({4}, 3, -1.7f)};
  if (!projects) return inputs;
  inputs[kShortcut] = ramp({2, 6, 4, 5}, -7, 0.06f);
  inputs.push_back(ramp({5, 6, 1, 1}, -1, 0.07f));
  inputs.push_back(ramp({5}, 4, -2));
  return inputs;
}

/// The activations of the three results: none, Relu, or Clip to [low, high].
struct Activation {
  const char* op = "";
  float low = 0;
  float high = 0;
};
using Activations = std::array<Activation, 3>;

graph::Node bottleneck(const Activations& activations = {}) {
  constexpr const char* kPrefixes[] = {"window_", "wide_", "narrow_"};
  Attributes attributes;
  for (size_t i = 0; i < 3; ++i) {
    const auto& [op, low, high] = activations[i];
    if (*op == 0) continue;
    const std::string prefix = kPrefixes[i];
    attributes.emplace_back(prefix + "post_ops", Strings{op});
    attributes.emplace_back(prefix + "post_alphas", Floats{low});
    attributes.emplace_back(prefix + "post_betas", Floats{high});
  }
  return node_of("FusedBottleneck", attributes);
}

Tensor activate(const Tensor& x, const Activation& activation) {
  const std::string op = activation.op;
  if (op.empty()) return x;
  if (op == "relu") return run_single_node(node_of("Relu"), {x})[0];
  return run_single_node(node_of("Clip"),
                         {x, Tensor::scalar(activation.low), Tensor::scalar(activation.high)})[0];
}

std::vector<Tensor> one_by_one(std::vector<Tensor> inputs, const Activations& activations) {
  inputs.resize(kProjectionBias + 1);
  const auto conv = [&](const Tensor& x, size_t filters, size_t bias) {
    const int64_t pad = filters == 1 ? 1 : 0;
    std::vector<Tensor> operands = {x, inputs[filters]};
    if (inputs[bias].defined()) operands.push_back(inputs[bias]);
    return run_single_node(node_of("Conv", {{"pads", std::vector<int64_t>(4, pad)}}), operands)[0];
  };
  const Tensor middle = activate(conv(inputs[0], 1, kWindowBias), activations[0]);
  const Tensor shortcut = inputs[kProjection].defined()
                              ? conv(inputs[kShortcut], kProjection, kProjectionBias)
                              : inputs[kShortcut];
  const Tensor sum = run_single_node(node_of("Add"), {conv(middle, 2, 6), shortcut})[0];
  const Tensor wide = activate(sum, activations[1]);
  return {wide, activate(conv(wide, 3, 7), activations[2])};
}

void expect_same(const std::vector<Tensor>& inputs, const Activations& activations, const std::string& what) {
  const auto actual = run_single_node(bottleneck(activations), inputs, 2);
  const auto expected = one_by_one(inputs, activations);
  for (size_t i = 0; i < 2; ++i) {
    ASSERT_EQ(actual[i].shape(), expected[i].shape()) << what;
    const auto a = actual[i].to_double();
    const auto e = expected[i].to_double();
    // A sum may be rounded twice on one side: two units in the last place, which the five products of the
    // last convolution, each with a filter below 1.2, add up.
    const double tolerance = i == 0 ? 2.4e-7 : 1.5e-6;
    double largest = 1;
    for (const double element : e) largest = std::max(largest, std::abs(element));
    for (size_t k = 0; k < a.size(); ++k)
      ASSERT_NEAR(a[k], e[k], tolerance * largest) << what << ", output " << i << ", element " << k;
  }
}

TEST(FusedBottleneck, IsItsPartsOneByOne) {
  const Activations relus = {{{"relu"}, {"relu"}, {"relu"}}};
  const Activations clips = {{{"clip", -1, 2}, {"clip", 0, 25}, {"clip", -3, 12}}};
  for (const bool projects : {false, true}) {
    const std::vector<Tensor> inputs = all_inputs(projects);
    const std::string form = projects ? "projected, " : "plain, ";
    expect_same(inputs, {}, form + "no activation");
    expect_same(inputs, relus, form + "relu");
    expect_same(inputs, clips, form + "clip");
    for (const Activations& all : {relus, clips}) {
      for (size_t i = 0; i < 3; ++i) {
        Activations one;
        one[i] = all[i];
        expect_same(inputs, one, fmt::format("{}{} of result {}", form, all[i].op, i));
        const size_t changed = i == 2 ? 1 : 0;
        EXPECT_NE(one_by_one(inputs, one)[changed].to_double(), one_by_one(inputs, {})[changed].to_double())
            << form << all[i].op << " of result " << i << " changes nothing";
      }
    }
  }
}

TEST(FusedBottleneck, EachBiasMayBeMissing) {
  const Activations relus = {{{"relu"}, {"relu"}, {}}};
  for (const bool projects : {false, true}) {
    std::vector<Tensor> none = all_inputs(projects);
    for (const size_t bias : {kWindowBias, size_t{6}, size_t{7}, kProjectionBias}) {
      if (bias >= none.size()) continue;
      std::vector<Tensor> inputs = all_inputs(projects);
      inputs[bias] = Tensor();
      none[bias] = Tensor();
      while (!inputs.back().defined()) inputs.pop_back();
      expect_same(inputs, relus, fmt::format("projects {}, no input {}", projects, bias));
    }
    while (!none.back().defined()) none.pop_back();
    EXPECT_EQ(none.size(), projects ? 9 : 5);
    expect_same(none, relus, fmt::format("projects {}, no bias", projects));
  }
}

/// The refusal when input `i` is another tensor.
std::string with_input(bool projects, size_t i, Tensor other) {
  std::vector<Tensor> inputs = all_inputs(projects);
  inputs[i] = std::move(other);
  return refusal(bottleneck(), inputs, 2);
}

TEST(FusedBottleneck, TheLastConvolutionMayBeMissing) {
  const Activations activations = {{{"relu"}, {"clip", 0, 25}, {}}};
  for (const bool projects : {false, true}) {
    std::vector<Tensor> inputs = all_inputs(projects);
    inputs[3] = inputs[7] = Tensor();
    while (!inputs.back().defined()) inputs.pop_back();
    EXPECT_EQ(inputs.size(), projects ? 10 : 7);
    const auto actual = run_single_node(bottleneck(activations), inputs, 1);
    ASSERT_EQ(actual.size(), 1u);
    EXPECT_EQ(actual[0].to_double(),
              run_single_node(bottleneck(activations), all_inputs(projects), 2)[0].to_double());
  }
  EXPECT_EQ(refusal(bottleneck(), all_inputs(false), 1), "1 outputs with input 3");
  EXPECT_EQ(with_input(false, 3, Tensor()), "input 7 is the bias of filters, which input 3 lacks");
  std::vector<Tensor> inputs = all_inputs(false);
  inputs[3] = inputs[7] = Tensor();
  EXPECT_EQ(refusal(bottleneck(), inputs, 2), "2 outputs without input 3");
  EXPECT_EQ(refusal(bottleneck({{{}, {}, {"relu"}}}), inputs, 1),
            "attribute 'narrow_post_ops' is of a convolution whose filters, input 3, are missing");
}

TEST(FusedBottleneck, OtherShapesAreRefused) {
  for (const bool projects : {false, true}) {
    EXPECT_EQ(with_input(projects, 7, Tensor()), "");
    const int64_t shortcut = projects ? 6 : 5;
    const std::pair<size_t, tensor::Shape> others[] = {{0, {2, 4, 4, 5}},
                                                       {0, {2, 3, 4}},
                                                       {1, {2, 3, 3, 1}},
                                                       {1, {2, 3, 5, 5}},
                                                       {1, {3, 3, 3, 3}},
                                                       {2, {5, 2, 3, 3}},
                                                       {2, {5, 3, 1, 1}},
                                                       {2, {6, 2, 1, 1}},
                                                       {2, {5, 2}},
                                                       {3, {4, 4, 1, 1}},
                                                       {3, {4, 5, 1, 2}},
                                                       {3, {4, 5, 1, 1, 1}},
                                                       {5, {3}},
                                                       {5, {1}},
                                                       {6, {4}},
                                                       {6, {5, 1}},
                                                       {7, {5}},
                                                       {4, {2, shortcut}},
                                                       {4, {2, shortcut, 1, 1}},
                                                       {4, {1, shortcut, 4, 5}},
                                                       {4, {2, 1, 4, 5}},
                                                       {4, {2, shortcut, 5, 4}}};
    for (const auto& [input, shape] : others) {
      const std::string sentence = with_input(projects, input, ramp(shape));
      EXPECT_NE(sentence.find("input"), std::string::npos)
          << "projects " << projects << ", input " << input << " of " << shape.size() << " axes";
    }
  }
  for (const tensor::Shape& filters : {tensor::Shape{4, 6, 1, 1}, {5, 5, 1, 1}, {5, 6, 3, 3}, {5, 6}})
    EXPECT_NE(with_input(true, kProjection, ramp(filters)), "");
  EXPECT_EQ(with_input(true, kProjectionBias, ramp({6})), "input 9 has shape 6, expected 5");
}

TEST(FusedBottleneck, OtherInputsAreRefused) {
  EXPECT_EQ(with_input(true, kProjectionBias, Tensor()), "");
  for (const size_t needed : {1, 2, 4}) EXPECT_NE(with_input(false, needed, Tensor()), "") << needed;
  for (size_t i = 1; i <= kProjectionBias; ++i) {
    const Tensor doubles = all_inputs(true)[i].cast(tensor::DType::kFloat64);
    EXPECT_NE(with_input(true, i, doubles), "") << i;
  }
  std::vector<Tensor> inputs = all_inputs(false);
  inputs.resize(kProjectionBias);
  inputs.push_back(ramp({5}));
  EXPECT_EQ(refusal(bottleneck(), inputs, 2), "input 9 is the bias of filters, which input 8 lacks");
}

TEST(FusedBottleneck, OtherPostOpsAreRefused) {
  for (const std::string prefix : {"window_", "wide_", "narrow_"}) {
    const auto with = [&](Strings ops, Floats alphas, Floats betas) {
      return refusal(node_of("FusedBottleneck", {{prefix + "post_ops", std::move(ops)},
                                                 {prefix + "post_alphas", std::move(alphas)},
                                                 {prefix + "post_betas", std::move(betas)}}),
                     all_inputs(false), 2);
    };
    EXPECT_EQ(with({"relu"}, {0}, {0}), "");
    EXPECT_EQ(with({"relu", "tanh"}, {0, 0}, {0, 0}), "");
    EXPECT_EQ(with({"relu"}, {}, {0}), "attribute '" + prefix + "post_alphas' has 0 entries for 1 post-ops");
    EXPECT_EQ(with({"relu"}, {0}, {0, 0}),
              "attribute '" + prefix + "post_betas' has 2 entries for 1 post-ops");
    for (const char* op : {"add", "cosine"}) {
      EXPECT_EQ(with({op}, {0}, {0}),
                "attribute '" + prefix + "post_ops' names '" + op + "', which is no activation");
    }
  }
}

}  // namespace
}  // namespace hone::reference
