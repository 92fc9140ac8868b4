// Imports of valid models: names, types, constants, functions, subgraphs.
#include "import/onnx/import.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

#include "import/onnx_text.hpp"

namespace hone::importer {
namespace {

using graph::DType;
using graph::Graph;
using graph::Tensor;
using testing::ElementsAre;

const graph::Value& output(const Graph& graph, size_t i = 0) { return graph.value(graph.outputs.at(i)); }

std::vector<std::string> operators(const Graph& graph) {
  std::vector<std::string> result;
  for (const auto& node : graph.nodes) result.push_back(node.op);
  return result;
}

std::vector<float> floats(const Tensor& tensor) {
  const auto values = tensor.values<float>();
  return {values.begin(), values.end()};
}

TEST(OnnxImport, KeepsNamesAndSymbols) {
  const Graph graph = import_text(17, "g (float[batch, 3] x) => (float[batch, 3] y) { y = Relu(x) }");
  EXPECT_EQ(graph.name, "g");
  ASSERT_EQ(graph.inputs.size(), 1u);
  EXPECT_EQ(graph.value(graph.inputs[0]).name, "x");
  EXPECT_EQ(graph.value(graph.inputs[0]).type.text(), "float32[batchx3]");
  EXPECT_EQ(output(graph).type.text(), "float32[batchx3]");
  EXPECT_THAT(graph.nodes.at(0).sources, ElementsAre("Relu_0"));
}

TEST(OnnxImport, OutputsThatNobodyReadNeedNoName) {
  const auto unnamed = [](onnx::ModelProto& model) {
    model.mutable_graph()->mutable_node(0)->set_output(0, "");
    model.mutable_graph()->mutable_node(1)->set_output(0, "");
  };
  const Graph graph = import_text(17, R"(g (float[1, 1, 2, 2] x) => (int64[1, 1, 1, 2] places) {
    none = Relu(x)
    largest, places = MaxPool <kernel_shape = [2, 1]> (x)
  })",
                                  unnamed);
  EXPECT_EQ(graph.nodes.at(1).op, "MaxPool");
  EXPECT_EQ(graph.value(graph.nodes.at(1).outputs.at(0)).type.text(), "float32[1x1x1x2]");
  EXPECT_EQ(output(graph).type.text(), "int64[1x1x1x2]");
}

TEST(OnnxImport, ReadsEveryKindOfConstant) {
  const Graph graph =
      import_text(17, R"(g (float[1] x) => (float[1] a, int64[2] b, float c, int64 d, float[2] e) {
    a = Identity(x)
    b = Constant <value_ints = [3, -4]> ()
    c = Constant <value_float = 1.5> ()
    d = Constant <value_int = 7> ()
    e = Constant <value = float[2] {0.5, 2.0}> ()
  })");
  EXPECT_THAT(output(graph, 1).constant->to_int64(), ElementsAre(3, -4));
  EXPECT_THAT(output(graph, 2).constant->to_double(), ElementsAre(1.5));
  EXPECT_EQ(output(graph, 2).constant->rank(), 0);
  EXPECT_THAT(output(graph, 3).constant->to_int64(), ElementsAre(7));
  EXPECT_THAT(output(graph, 4).constant->to_double(), ElementsAre(0.5, 2.0));
}

TEST(OnnxImport, MakesSparseConstantsDense) {
  const auto sparse = [](onnx::ModelProto& model) {
    auto* attribute = model.mutable_graph()->mutable_node(0)->add_attribute();
    attribute->set_name("sparse_value");
    attribute->set_type(onnx::AttributeProto::SPARSE_TENSOR);
    auto* tensor = attribute->mutable_sparse_tensor();
    tensor->add_dims(2);
    tensor->add_dims(2);
    tensor->mutable_values()->set_data_type(onnx::TensorProto::FLOAT);
    tensor->mutable_values()->add_dims(1);
    tensor->mutable_values()->add_float_data(9);
    tensor->mutable_indices()->set_data_type(onnx::TensorProto::INT64);
    tensor->mutable_indices()->add_dims(1);
    tensor->mutable_indices()->add_int64_data(2);
  };
  const Graph graph = import_text(17, "g (float[1] x) => (float[2, 2] y) { y = Constant() }", sparse);
  EXPECT_THAT(output(graph).constant->to_double(), ElementsAre(0, 0, 9, 0));
}

TEST(OnnxImport, ReadsEveryElementTypeFromRawBytesAndFields) {
  struct Row {
    onnx::TensorProto::DataType type;
    std::string raw;
    double value;
  };
  const Row rows[] = {
      {onnx::TensorProto::INT8, "\xfe", -2},
      {onnx::TensorProto::UINT16, std::string("\x01\x02", 2), 513},
      {onnx::TensorProto::FLOAT16, std::string("\x00\x3e", 2), 1.5},
      {onnx::TensorProto::BFLOAT16, std::string("\xc0\x3f", 2), 1.5},
      {onnx::TensorProto::DOUBLE, std::string("\0\0\0\0\0\0\xf8\x3f", 8), 1.5},
      {onnx::TensorProto::UINT32, std::string("\x05\0\0\0", 4), 5},
      {onnx::TensorProto::BOOL, "\x07", 1},
  };
  for (const Row& row : rows) {
    const auto raw = [&](onnx::ModelProto& model) {
      auto* tensor = model.mutable_graph()->add_initializer();
      tensor->set_name("w");
      tensor->set_data_type(row.type);
      tensor->set_raw_data(row.raw);
    };
    const Graph graph = import_text(17, "g (float[1] x) => (float[1] y) { y = Identity(x) }", raw);
    ASSERT_TRUE(graph.values.at(0).constant.has_value());
    EXPECT_THAT(graph.values.at(0).constant->to_double(), ElementsAre(row.value));
  }
}

TEST(OnnxImport, HalvesInIntegerFieldsAreBits) {
  const auto half = [](onnx::ModelProto& model) {
    auto* tensor = model.mutable_graph()->add_initializer();
    tensor->set_name("w");
    tensor->set_data_type(onnx::TensorProto::FLOAT16);
    tensor->add_int32_data(0x3e00);
  };
  const Graph graph = import_text(17, "g (float[1] x) => (float[1] y) { y = Identity(x) }", half);
  EXPECT_THAT(graph.values.at(0).constant->to_double(), ElementsAre(1.5));
}

TEST(OnnxImport, AnInputWithAnInitializerIsAConstant) {
  const auto weight = [](onnx::ModelProto& model) {
    auto* tensor = model.mutable_graph()->add_initializer();
    tensor->set_name("w");
    tensor->set_data_type(onnx::TensorProto::FLOAT);
    tensor->add_dims(1);
    tensor->add_float_data(2);
  };
  const Graph graph = import_text(8, "g (float[1] x, float[1] w) => (float[1] y) { y = Mul(x, w) }", weight);
  ASSERT_EQ(graph.inputs.size(), 1u);
  EXPECT_EQ(graph.value(graph.inputs[0]).name, "x");
}

TEST(OnnxImport, SortsNodesThatTheFileHasOutOfOrder) {
  const Graph graph = import_text(17, R"(g (float[1] x) => (float[1] y) {
    y = Neg(b)
    b = Relu(x)
  })");
  EXPECT_THAT(operators(graph), ElementsAre("Relu", "Neg"));
}

TEST(OnnxImport, InlinesFunctionsWithAttributeReferences) {
  const std::string_view text = R"(g (float[2] x) => (float[2] y) {
    t = local.twice <alpha = 0.5> (x)
    y = local.twice <alpha = 0.25> (t)
  }
  <domain: "local", opset_import: ["" : 17]>
  twice <alpha> (a) => (b) {
    h = LeakyRelu <alpha : float = @alpha> (a)
    b = Add(h, h)
  })";
  const Graph graph = import_text(17, text);
  EXPECT_THAT(operators(graph), ElementsAre("LeakyRelu", "Add", "LeakyRelu", "Add"));
  const auto result = run_text(17, text, {Tensor::of<float>({-1, 2}, {2})});
  EXPECT_THAT(floats(result.at(0)), ElementsAre(-0.5, 8));
}

std::vector<std::string> output_names(const Graph& graph) {
  std::vector<std::string> names;
  for (const graph::ValueId id : graph.outputs) names.push_back(graph.value(id).name);
  return names;
}

TEST(OnnxImport, ResultsOfFunctionsHaveTheNamesThatCallsGiveThem) {
  const std::string_view text =
      R"(g (float[2] x) => (float[2] y, float[2] same, float[2] twice, float[2] two) {
    y = local.outer (x)
    same, twice, again, two = local.several (y)
  }
  <domain: "local", opset_import: ["" : 17]>
  negate (a) => (b) { b = Neg(a) }
  <domain: "local", opset_import: ["" : 17, "local" : 1]>
  outer (a) => (c) { b = local.negate(a) c = local.negate(b) }
  <domain: "local", opset_import: ["" : 17]>
  several (a) => (a, b, b, c) { b = Add(a, a) c = Constant <value_floats = [2.0, 2.0]> () })";
  const Graph graph = import_text(17, text);
  EXPECT_THAT(output_names(graph), ElementsAre("y", "same", "twice", "two"));
  EXPECT_THAT(operators(graph), ElementsAre("Neg", "Neg", "Add", "Identity", "Identity"));
  const auto result = run_text(17, text, {Tensor::of<float>({1, 2}, {2})});
  EXPECT_THAT(floats(result.at(0)), ElementsAre(1, 2));
  EXPECT_THAT(floats(result.at(1)), ElementsAre(1, 2));
  EXPECT_THAT(floats(result.at(2)), ElementsAre(2, 4));
  EXPECT_THAT(floats(result.at(3)), ElementsAre(2, 2));
}

TEST(OnnxImport, ClosesSubgraphsOverWhatTheyCapture) {
  const std::string_view text = R"(g (bool c, float[1] x, float[1] z) => (float[1] y) {
    y = If (c) <
      then_branch = t () => (float[1] a) { a = Add(x, z) },
      else_branch = e () => (float[1] b) { b = Neg(z) }
    >
  })";
  const Graph graph = import_text(17, text);
  const auto& node = graph.nodes.at(0);
  EXPECT_EQ(node.attributes.get_int("num_captures"), 2);
  EXPECT_EQ(node.inputs.size(), 3u);
  for (const char* branch : {"then_branch", "else_branch"}) {
    EXPECT_EQ(node.attributes.get<std::shared_ptr<Graph>>(branch)->inputs.size(), 2u);
  }
  const auto x = Tensor::of<float>({1}, {1});
  const auto z = Tensor::of<float>({5}, {1});
  EXPECT_THAT(floats(run_text(17, text, {Tensor::scalar(true), x, z}).at(0)), ElementsAre(6));
  EXPECT_THAT(floats(run_text(17, text, {Tensor::scalar(false), x, z}).at(0)), ElementsAre(-5));
}

TEST(OnnxImport, CapturesReachThroughSeveralGraphs) {
  const std::string_view text = R"(g (bool c, float[1] x) => (float[1] y) {
    y = If (c) <
      then_branch = t () => (float[1] a) {
        a = If (c) < then_branch = tt () => (float[1] p) { p = Neg(x) },
                     else_branch = te () => (float[1] q) { q = Identity(x) } >
      },
      else_branch = e () => (float[1] b) { b = Identity(x) }
    >
  })";
  const auto result = run_text(17, text, {Tensor::scalar(true), Tensor::of<float>({3}, {1})});
  EXPECT_THAT(floats(result.at(0)), ElementsAre(-3));
}

}  // namespace
}  // namespace hone::importer
