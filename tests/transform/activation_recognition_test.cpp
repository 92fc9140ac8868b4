// Activations, Gelu and layer normalisation that an exporter wrote out become one node.
#include <cmath>

#include "support/passes.hpp"

namespace hone::test {
namespace {

const Dims kImage = {Dim::symbol("N"), 4, 5, 5};

ValueId clip(GraphBuilder& b, ValueId x, float low, float high) {
  return b.node("Clip", {x, b.scalar(low), b.scalar(high)});
}

Transformed check(GraphBuilder& b, ValueId result, const std::string& pass = "activation_recognition") {
  return check_pass(b.finish({result}), pass);
}

TEST(ActivationRecognition, Swish) {
  GraphBuilder b;
  const ValueId x = b.input("x", kImage);
  const auto result = check(b, b.node("Mul", {b.node("Sigmoid", {x}), x}));
  EXPECT_EQ(structure(result.graph), "FusedElementwise[swish]");
  EXPECT_EQ(result.graph.nodes[0].name, "Sigmoid1 + Mul1");
}

TEST(ActivationRecognition, SwishWithAFactor) {
  GraphBuilder b;
  const ValueId x = b.input("x", kImage);
  const ValueId gate = b.node("Sigmoid", {b.node("Mul", {x, b.scalar(1.702f)})});
  const auto result = check(b, b.node("Mul", {x, gate}));
  EXPECT_EQ(structure(result.graph), "FusedElementwise[swish]");
  EXPECT_EQ(result.graph.nodes[0].attributes.get<std::vector<float>>("post_alphas"),
            std::vector<float>{1.702f});
}

TEST(ActivationRecognition, SwishRefusedWhenTheGateIsReadTwice) {
  GraphBuilder b;
  const ValueId x = b.input("x", kImage);
  const ValueId gate = b.node("Sigmoid", {x});
  const auto result = check_pass(b.finish({b.node("Mul", {x, gate}), gate}), "activation_recognition");
  EXPECT_EQ(structure(result.graph), "Sigmoid Mul");
  EXPECT_TRUE(refuses(result, "'Mul1' is no FusedElementwise: 'v1' inside of it is needed elsewhere"));
}

TEST(ActivationRecognition, GateOfSomethingElseIsNoSwish) {
  GraphBuilder b;
  const ValueId x = b.input("x", kImage);
  const ValueId y = b.input("y", kImage);
  EXPECT_EQ(structure(check(b, b.node("Mul", {x, b.node("Sigmoid", {y})})).graph), "Sigmoid Mul");
}

TEST(ActivationRecognition, HardSwishOfHardSigmoid) {
  GraphBuilder b;
  const ValueId x = b.input("x", kImage);
  const ValueId gate = b.node("HardSigmoid", {x}, {{"alpha", 1.0f / 6}, {"beta", 0.5f}});
  EXPECT_EQ(structure(check(b, b.node("Mul", {x, gate})).graph), "HardSwish");
}

TEST(ActivationRecognition, OtherHardSigmoidIsNoHardSwish) {
  GraphBuilder b;
  const ValueId x = b.input("x", kImage);
  const ValueId gate = b.node("HardSigmoid", {x}, {{"alpha", 0.2f}, {"beta", 0.5f}});
  EXPECT_EQ(structure(check(b, b.node("Mul", {x, gate})).graph), "HardSigmoid Mul");
}

TEST(ActivationRecognition, HardSwishWrittenOutInEveryOrder) {
  for (const int form : {0, 1, 2}) {
    GraphBuilder b;
    const ValueId x = b.input("x", kImage);
    const ValueId gate = clip(b, b.node("Add", {x, b.scalar(3)}), 0, 6);
    ValueId y = kNoValue;
    if (form == 0) y = b.node("Div", {b.node("Mul", {x, gate}), b.scalar(6)});
    if (form == 1) y = b.node("Mul", {x, b.node("Div", {gate, b.scalar(6)})});
    if (form == 2) y = b.node("Mul", {b.node("Mul", {gate, b.scalar(1.0f / 6)}), x});
    EXPECT_EQ(structure(check(b, y).graph), "HardSwish") << form;
  }
}

TEST(ActivationRecognition, HardSigmoidWrittenOut) {
  GraphBuilder b;
  const ValueId x = b.input("x", kImage);
  const ValueId y = b.node("Div", {clip(b, b.node("Add", {b.scalar(3), x}), 0, 6), b.scalar(6)});
  EXPECT_EQ(structure(check(b, y).graph), "HardSigmoid");
}

TEST(ActivationRecognition, OtherBoundsAreNoHardSigmoid) {
  GraphBuilder b;
  const ValueId x = b.input("x", kImage);
  const ValueId y = b.node("Div", {clip(b, b.node("Add", {x, b.scalar(3)}), 0, 5), b.scalar(6)});
  EXPECT_EQ(structure(check(b, y).graph), "Add Clip Div");
}

TEST(ActivationRecognition, Mish) {
  GraphBuilder b;
  const ValueId x = b.input("x", kImage);
  EXPECT_EQ(structure(check(b, b.node("Mul", {x, b.node("Tanh", {b.node("Softplus", {x})})})).graph), "Mish");
}

TEST(ActivationRecognition, MaximaAndMinima) {
  GraphBuilder b;
  const ValueId x = b.input("x", kImage);
  EXPECT_EQ(structure(check(b, b.node("Max", {b.scalar(0), x})).graph), "Relu");
  GraphBuilder c;
  const ValueId y = c.input("y", kImage);
  EXPECT_EQ(structure(check(c, c.node("Min", {c.node("Max", {y, c.scalar(-1)}), c.scalar(1)})).graph),
            "Clip");
  GraphBuilder d;
  const ValueId z = d.input("z", kImage);
  EXPECT_EQ(structure(check(d, d.node("Min", {d.node("Relu", {z}), d.scalar(6)})).graph), "Clip");
}

TEST(ActivationRecognition, MaximumOfTwoTensorsStays) {
  GraphBuilder b;
  const ValueId x = b.input("x", kImage);
  EXPECT_EQ(structure(check(b, b.node("Max", {x, b.random({4, 1, 1})})).graph), "Max");
}

TEST(ActivationRecognition, ReluAfterReluGoes) {
  GraphBuilder b;
  const ValueId x = b.input("x", kImage);
  const ValueId pooled =
      b.node("MaxPool", {b.node("Relu", {x})}, {{"kernel_shape", std::vector<int64_t>{2, 2}}});
  EXPECT_EQ(structure(check(b, b.node("Relu", {pooled})).graph), "Relu MaxPool");
}

// Gelu as torch.onnx and TensorFlow's exporter write it.
ValueId gelu_erf(GraphBuilder& b, ValueId x, int form) {
  const ValueId argument = form == 0 ? b.node("Div", {x, b.scalar(std::sqrt(2.0f))})
                                     : b.node("Mul", {x, b.scalar(std::sqrt(0.5f))});
  const ValueId gate = b.node("Add", {b.node("Erf", {argument}), b.scalar(1)});
  if (form == 0) return b.node("Mul", {b.node("Mul", {x, gate}), b.scalar(0.5f)});
  if (form == 1) return b.node("Mul", {b.node("Mul", {b.scalar(0.5f), x}), gate});
  return b.node("Mul", {x, b.node("Mul", {gate, b.scalar(0.5f)})});
}

TEST(GeluRecognition, ErfForms) {
  for (const int form : {0, 1, 2}) {
    GraphBuilder b;
    const ValueId x = b.input("x", {Dim::symbol("N"), 7});
    const auto result = check(b, gelu_erf(b, x, form), "gelu_recognition");
    EXPECT_EQ(structure(result.graph), "Gelu") << form;
    EXPECT_EQ(result.graph.nodes[0].attributes.get_string("approximate"), "none");
  }
}

TEST(GeluRecognition, OfAProduct) {
  GraphBuilder b;
  const ValueId x = b.input("x", {Dim::symbol("N"), 7});
  const ValueId product = b.node("Mul", {x, b.random({7})});
  EXPECT_EQ(structure(check(b, gelu_erf(b, product, 0), "gelu_recognition").graph), "Mul Gelu");
}

ValueId gelu_tanh(GraphBuilder& b, ValueId x, int form) {
  const float root = std::sqrt(2 / 3.14159265358979f);
  ValueId argument = kNoValue;
  if (form == 2) {
    const ValueId square = b.node("Mul", {b.node("Mul", {b.scalar(0.044715f), x}), x});
    argument = b.node("Mul", {b.node("Mul", {x, b.scalar(root)}), b.node("Add", {square, b.scalar(1)})});
  } else {
    const ValueId cube =
        form == 0 ? b.node("Pow", {x, b.scalar(3)}) : b.node("Mul", {b.node("Mul", {x, x}), x});
    const ValueId sum = b.node("Add", {x, b.node("Mul", {b.scalar(0.044715f), cube})});
    argument = b.node("Mul", {sum, b.scalar(root)});
  }
  const ValueId gate = b.node("Add", {b.scalar(1), b.node("Tanh", {argument})});
  return b.node("Mul", {b.node("Mul", {b.scalar(0.5f), x}), gate});
}

TEST(GeluRecognition, TanhForms) {
  for (const int form : {0, 1, 2}) {
    GraphBuilder b;
    const ValueId x = b.input("x", {Dim::symbol("N"), 7});
    const auto result = check(b, gelu_tanh(b, x, form), "gelu_recognition");
    ASSERT_EQ(structure(result.graph), "Gelu") << form;
    EXPECT_EQ(result.graph.nodes[0].attributes.get_string("approximate"), "tanh");
  }
}

TEST(GeluRecognition, AnotherConstantIsNoGelu) {
  GraphBuilder b;
  const ValueId x = b.input("x", {Dim::symbol("N"), 7});
  const ValueId gate = b.node("Add", {b.node("Erf", {b.node("Div", {x, b.scalar(1.5f)})}), b.scalar(1)});
  const ValueId y = b.node("Mul", {b.node("Mul", {x, gate}), b.scalar(0.5f)});
  EXPECT_EQ(structure(check(b, y, "gelu_recognition").graph), "Div Erf Add Mul Mul");
}

TEST(GeluRecognition, RefusedWhenAPartIsAnOutput) {
  GraphBuilder b;
  const ValueId x = b.input("x", {Dim::symbol("N"), 7});
  const ValueId erf = b.node("Erf", {b.node("Div", {x, b.scalar(std::sqrt(2.0f))})});
  const ValueId gate = b.node("Add", {erf, b.scalar(1)});
  const ValueId y = b.node("Mul", {b.node("Mul", {x, gate}), b.scalar(0.5f)});
  const auto result = check_pass(b.finish({y, erf}), "gelu_recognition");
  EXPECT_EQ(structure(result.graph), "Div Erf Add Mul Mul");
  EXPECT_TRUE(refuses(result, "is needed elsewhere"));
}

struct NormParts {
  ValueId difference;
  ValueId result;
};

NormParts norm(GraphBuilder& b, ValueId x, const std::vector<int64_t>& axes,
               const std::vector<int64_t>& deviation) {
  const ValueId difference = b.node("Sub", {x, b.node("ReduceMean", {x, b.ints(axes)})});
  const ValueId variance =
      b.node("ReduceMean", {b.node("Pow", {difference, b.scalar(2)}), b.ints(deviation)});
  const ValueId root = b.node("Sqrt", {b.node("Add", {variance, b.scalar(1e-5f)})});
  return {difference, b.node("Div", {difference, root})};
}

TEST(LayerNormRecognition, WithScaleAndBias) {
  GraphBuilder b;
  const ValueId x = b.input("x", {Dim::symbol("N"), 3, 8});
  const ValueId scaled = b.node("Mul", {norm(b, x, {-1}, {2}).result, b.random({8})});
  const auto result = check(b, b.node("Add", {scaled, b.random({8})}), "layer_norm_recognition");
  EXPECT_EQ(structure(result.graph), "LayerNormalization");
  EXPECT_EQ(result.graph.nodes[0].sources.size(), 9u);
  EXPECT_EQ(result.graph.nodes[0].inputs.size(), 3u);
}

TEST(LayerNormRecognition, WithoutAScaleOverTwoAxes) {
  GraphBuilder b;
  const ValueId x = b.input("x", {Dim::symbol("N"), 3, 8});
  const auto result = check(b, norm(b, x, {1, 2}, {-2, -1}).result, "layer_norm_recognition");
  EXPECT_EQ(structure(result.graph), "LayerNormalization");
  EXPECT_EQ(result.graph.nodes[0].attributes.get_int("axis"), 1);
}

TEST(LayerNormRecognition, MeansOverOtherAxesStay) {
  GraphBuilder b;
  const ValueId x = b.input("x", {Dim::symbol("N"), 3, 8});
  const Graph first = b.finish({norm(b, x, {1}, {1}).result});
  EXPECT_EQ(structure(check_pass(first, "layer_norm_recognition").graph), structure(first));
  GraphBuilder c;
  const ValueId y = c.input("y", {Dim::symbol("N"), 3, 8});
  const Graph second = c.finish({norm(c, y, {2}, {1, 2}).result});
  EXPECT_EQ(structure(check_pass(second, "layer_norm_recognition").graph), structure(second));
}

TEST(LayerNormRecognition, RefusesUnknownDimensions) {
  GraphBuilder b;
  const ValueId x = b.input("x", {2, Dim::symbol("C")});
  const auto result = check(b, norm(b, x, {-1}, {-1}).result, "layer_norm_recognition");
  EXPECT_TRUE(refuses(result, "the normalised dimensions are not known"));
}

TEST(LayerNormRecognition, RefusesAnInnerOutput) {
  GraphBuilder b;
  const ValueId x = b.input("x", {Dim::symbol("N"), 8});
  const NormParts parts = norm(b, x, {-1}, {-1});
  const auto result = check_pass(b.finish({parts.result, parts.difference}), "layer_norm_recognition");
  EXPECT_TRUE(refuses(result, "is needed elsewhere"));
}

}  // namespace
}  // namespace hone::test
