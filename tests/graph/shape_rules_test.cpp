// Shape rules on symbolic dimensions and followed shape data, and the sentences with which they refuse nodes.
#include <gtest/gtest.h>

#include <variant>

#include "graph/infer.hpp"
#include "graph/operator.hpp"

namespace hone::graph {
namespace {

using Operand = std::variant<ValueId, Tensor>;

/// A graph that grows node by node; every value knows its type at once.
class Sketch {
 public:
  ValueId input(Dims dims, DType dtype = DType::kFloat32) {
    const ValueId id =
        graph_.add_value("input" + std::to_string(graph_.values.size()), {dtype, std::move(dims)});
    graph_.inputs.push_back(id);
    return id;
  }

  ValueId add(const std::string& op, const std::vector<Operand>& operands,
              const std::vector<std::pair<std::string, Attribute>>& attributes = {}, size_t outputs = 1) {
    Node node;
    node.op = op;
    node.name = op;
    for (const Operand& operand : operands) {
      const auto* tensor = std::get_if<Tensor>(&operand);
      node.inputs.push_back(tensor != nullptr ? graph_.add_constant("constant", *tensor)
                                              : std::get<ValueId>(operand));
    }
    for (const auto& [name, value] : attributes) node.attributes.set(name, value);
    for (size_t i = 0; i < outputs; ++i) node.outputs.push_back(graph_.add_value("value"));
    const ValueId first = node.outputs[0];
    complete_node(node);
    graph_.add_node(std::move(node));
    infer_types(graph_);
    return first;
  }

  std::string shape(ValueId id) const {
    return graph_.value(id).type.dims ? dims_text(*graph_.value(id).type.dims) : "?";
  }
  std::string data(ValueId id) const {
    return graph_.value(id).data ? dims_text(*graph_.value(id).data) : "?";
  }

 private:
  Graph graph_;
};

Tensor ints(const std::vector<int64_t>& values) {
  return Tensor::of(values, {static_cast<int64_t>(values.size())});
}
Dim n() { return Dim::symbol("N"); }

/// The sentence with which a node is refused.
std::string refusal(const std::string& op, const std::vector<Dims>& inputs,
                    const std::vector<Tensor>& constants = {},
                    const std::vector<std::pair<std::string, Attribute>>& attributes = {}) {
  Sketch sketch;
  std::vector<Operand> operands;
  for (const Dims& dims : inputs) operands.emplace_back(sketch.input(dims));
  for (const Tensor& constant : constants) operands.emplace_back(constant);
  try {
    sketch.add(op, operands, attributes);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kBadInput);
    EXPECT_NE(error.where().find(op), std::string::npos) << error.what();
    return error.sentence();
  }
  return "accepted";
}

TEST(ShapeRules, FlattenKeepsTheBatchSymbol) {
  Sketch s;
  EXPECT_EQ(s.shape(s.add("Flatten", {s.input({n(), 512, 1, 1})})), "Nx512");
  EXPECT_EQ(s.shape(s.add("Flatten", {s.input({n(), 3})}, {{"axis", int64_t{0}}})), "1x?");
}

TEST(ShapeRules, ReshapeFindsTheMissingDimension) {
  Sketch s;
  const ValueId x = s.input({n(), 12, 4});
  EXPECT_EQ(s.shape(s.add("Reshape", {x, ints({0, -1})})), "Nx48");
  EXPECT_EQ(s.shape(s.add("Reshape", {x, ints({-1, 48})})), "Nx48");
  EXPECT_EQ(s.shape(s.add("Reshape", {x, ints({-1, 24})})), "?x24");
  EXPECT_EQ(s.shape(s.add("Reshape", {x, ints({0, 2, 6, 4})})), "Nx2x6x4");
  EXPECT_EQ(s.shape(s.add("Reshape", {s.input({6, 4}), ints({-1, 8})})), "3x8");
}

/// Exporters write x.view(x.size(0), -1) as Shape, Gather, Unsqueeze, Concat, Reshape.
TEST(ShapeRules, ShapeArithmeticStaysSymbolic) {
  Sketch s;
  const ValueId x = s.input({n(), 3, 8, 8});
  const ValueId shape = s.add("Shape", {x});
  EXPECT_EQ(s.data(shape), "Nx3x8x8");
  const ValueId batch = s.add("Gather", {shape, Tensor::scalar<int64_t>(0)});
  EXPECT_EQ(s.data(batch), "N");
  const ValueId row = s.add("Unsqueeze", {batch, ints({0})});
  const ValueId wanted = s.add("Concat", {row, ints({-1})}, {{"axis", int64_t{0}}});
  EXPECT_EQ(s.data(wanted), "Nx-1");
  EXPECT_EQ(s.shape(s.add("Reshape", {x, wanted})), "Nx192");
  const ValueId tail = s.add("Slice", {shape, ints({2}), ints({4})});
  EXPECT_EQ(s.data(tail), "8x8");
  const ValueId doubled = s.add("Mul", {tail, ints({2})});
  EXPECT_EQ(s.data(s.add("Cast", {doubled}, {{"to", int64_t{6}}})), "16x16");
  EXPECT_EQ(
      s.shape(s.add("Expand", {s.input({1, 1}), s.add("Concat", {row, ints({5})}, {{"axis", int64_t{0}}})})),
      "Nx5");
  EXPECT_EQ(s.shape(s.add("ConstantOfShape", {row})), "N");
  EXPECT_EQ(s.shape(s.add("Range", {Tensor::scalar<int64_t>(0), batch, Tensor::scalar<int64_t>(1)})), "N");
}

TEST(ShapeRules, BroadcastKeepsWhatIsKnown) {
  Sketch s;
  EXPECT_EQ(s.shape(s.add("Add", {s.input({n(), 3, 1}), s.input({1, 5})})), "Nx3x5");
  EXPECT_EQ(s.shape(s.add("Add", {s.input({n()}), s.input({7})})), "7");
  EXPECT_EQ(s.shape(s.add("Add", {s.input({n()}), s.input({Dim::symbol("M")})})), "?");
}

TEST(ShapeRules, RegionsOfSymbolicAxes) {
  Sketch s;
  const ValueId x = s.input({n(), 10});
  EXPECT_EQ(s.shape(s.add("Slice", {x, ints({0}), ints({INT64_MAX}), ints({0})})), "Nx10");
  EXPECT_EQ(s.shape(s.add("Slice", {x, ints({-3}), ints({INT64_MAX}), ints({1})})), "Nx3");
  EXPECT_EQ(s.shape(s.add("Slice", {x, ints({-1}), ints({INT64_MIN}), ints({1}), ints({-3})})), "Nx4");
  EXPECT_EQ(s.shape(s.add("Slice", {x, ints({1}), ints({5}), ints({0})})), "?x10");
  EXPECT_EQ(s.shape(s.add("Concat", {x, x}, {{"axis", int64_t{1}}})), "Nx20");
  EXPECT_EQ(s.shape(s.add("Pad", {x, ints({0, 1, 0, 2})})), "Nx13");
  EXPECT_EQ(s.shape(s.add("Tile", {x, ints({1, 2})})), "Nx20");
  EXPECT_EQ(s.shape(s.add("Split", {x}, {{"axis", int64_t{1}}, {"num_outputs", int64_t{3}}}, 3)), "Nx4");
}

TEST(ShapeRules, Products) {
  Sketch s;
  EXPECT_EQ(s.shape(s.add("MatMul", {s.input({n(), 1, 2, 3}), s.input({5, 3, 4})})), "Nx5x2x4");
  EXPECT_EQ(s.shape(s.add("MatMul", {s.input({3}), s.input({n(), 3, 4})})), "Nx4");
  EXPECT_EQ(s.shape(s.add("Gemm", {s.input({n(), 512}), s.input({1000, 512}), s.input({1000})},
                          {{"transB", int64_t{1}}})),
            "Nx1000");
  EXPECT_EQ(s.shape(s.add("Einsum", {s.input({n(), 2, 3}), s.input({n(), 3, 4})},
                          {{"equation", std::string("bij,bjk->bik")}})),
            "Nx2x4");
}

TEST(ShapeRules, Reductions) {
  Sketch s;
  const ValueId x = s.input({n(), 3, 8});
  EXPECT_EQ(s.shape(s.add("ReduceMean", {x, ints({-1})})), "Nx3x1");
  EXPECT_EQ(s.shape(s.add("ReduceMean", {x, ints({1, 2})}, {{"keepdims", int64_t{0}}})), "N");
  EXPECT_EQ(s.shape(s.add("ReduceMean", {x})), "1x1x1");
  EXPECT_EQ(s.shape(s.add("ArgMax", {x}, {{"axis", int64_t{1}}, {"keepdims", int64_t{0}}})), "Nx8");
  EXPECT_EQ(s.shape(s.add("TopK", {x, ints({2})}, {}, 2)), "Nx3x2");
}

TEST(ShapeRules, RefusalsNameTheFault) {
  EXPECT_EQ(refusal("Reshape", {{2, 3}}, {ints({4, -1})}), "6 elements of shape 2x3 do not fit shape 4x?");
  EXPECT_EQ(refusal("Reshape", {{2, 3}}, {ints({-1, -1})}), "the new shape has two dimensions of -1");
  EXPECT_EQ(refusal("Transpose", {{2, 3}}, {}, {{"perm", std::vector<int64_t>{0, 0}}}),
            "axis 0 is named twice");
  EXPECT_EQ(refusal("Transpose", {{2, 3}}, {}, {{"perm", std::vector<int64_t>{-1, 0}}}),
            "attribute 'perm' has a negative entry");
  EXPECT_EQ(refusal("Concat", {{2, 3}, {3, 3}}, {}, {{"axis", int64_t{1}}}),
            "dimension 0 is 2 and 3 in different inputs");
  EXPECT_EQ(refusal("MatMul", {{2, 3}, {4, 5}}), "shapes 2x3 and 4x5 do not multiply: 3 columns meet 4 rows");
  EXPECT_EQ(refusal("Softmax", {{2, 3}}, {}, {{"axis", int64_t{5}}}),
            "attribute 'axis' is 5, outside rank 2");
  EXPECT_EQ(refusal("Slice", {{4}}, {ints({0}), ints({4}), ints({0}), ints({0})}), "a step is 0");
  EXPECT_EQ(refusal("GroupNormalization", {{1, 4, 2}, {4}, {4}}, {}, {{"num_groups", int64_t{3}}}),
            "4 channels do not divide into 3 groups");
  EXPECT_EQ(refusal("GroupNormalization", {{1, 4, 2}, {4}, {4}}, {}, {{"num_groups", int64_t{0}}}),
            "attribute 'num_groups' is 0");
  EXPECT_EQ(refusal("DepthToSpace", {{1, 4, 2, 2}}, {}, {{"blocksize", int64_t{0}}}),
            "attribute 'blocksize' is 0");
  EXPECT_EQ(refusal("Tile", {{2}}, {ints({-1})}), "input 'repeats' has entry -1");
  EXPECT_EQ(refusal("Tile", {{INT64_MAX / 2}}, {ints({4})}), "size 4611686018427387903 x 4 overflows");
  EXPECT_EQ(refusal("Unsqueeze", {{2}}, {ints({0, -3})}), "axis -3 is named twice");
  EXPECT_EQ(refusal("Cast", {{2}}, {}, {{"to", int64_t{99}}}),
            "attribute 'to' is 99, which is no supported element type");
  EXPECT_EQ(refusal("Einsum", {{2, 3}}, {}, {{"equation", std::string("ijk->i")}}),
            "term 'ijk' of equation 'ijk->i' does not fit an input of rank 2");
  EXPECT_EQ(refusal("BatchNormalization", {{1, 3, 2, 2}, {3}, {3}, {4}, {3}}),
            "the channel count is 3 and 4 in different inputs");
}

/// Devices do not look at more than the index along the axis.
TEST(ShapeRules, IndicesAndUpdatesFitTheData) {
  const auto zeros = [](const tensor::Shape& shape) {
    return Tensor::of<int64_t>(std::vector<int64_t>(static_cast<size_t>(tensor::element_count(shape))),
                               shape);
  };
  const auto values = [](const tensor::Shape& shape) {
    return Tensor::of<float>(std::vector<float>(static_cast<size_t>(tensor::element_count(shape))), shape);
  };
  const std::vector<std::pair<std::string, Attribute>> axis = {{"axis", int64_t{1}}};
  EXPECT_EQ(refusal("GatherElements", {{2, 3}}, {zeros({2, 50})}, axis), "accepted");
  EXPECT_EQ(refusal("GatherElements", {{2, 3}}, {zeros({50, 1})}, axis),
            "indices of shape 50x1 for data of shape 2x3 along axis 1");
  EXPECT_EQ(refusal("ScatterElements", {{2, 3}}, {zeros({50, 1}), values({50, 1})}, axis),
            "indices of shape 50x1 for data of shape 2x3 along axis 1");
  EXPECT_EQ(refusal("ScatterElements", {{4}}, {zeros({4}), values({1})}),
            "inputs 1 and 2 have shapes 4 and 1");
  EXPECT_EQ(refusal("ScatterND", {{4, 3}}, {zeros({2, 1}), values({2, 3})}), "accepted");
  EXPECT_EQ(refusal("ScatterND", {{4, 3}}, {zeros({2, 1}), values({1})}), "updates have rank 1, expected 2");
  EXPECT_EQ(refusal("ScatterND", {{4, 3}}, {zeros({2, 1}), values({1, 3})}),
            "inputs 2 and 1 have shapes 1x3 and 2x1");
  EXPECT_EQ(refusal("ScatterND", {{4, 3}}, {zeros({2, 1}), values({2, 2})}),
            "inputs 2 and 0 have shapes 2x2 and 4x3");
  EXPECT_EQ(refusal("GatherND", {{1, 3}}, {zeros({40, 1})}, {{"batch_dims", int64_t{1}}}),
            "inputs 0 and 1 have shapes 1x3 and 40x1");
}

/// Constants may be huge; following them as shape data would cost more memory than they have themselves.
TEST(ShapeRules, LargeConstantsAreNotFollowed) {
  Sketch s;
  const Tensor large = ints(std::vector<int64_t>(100000, 1));
  EXPECT_EQ(s.data(s.add("Add", {large, large})), "?");
}

/// An overflow is left to the kernels, which wrap around; it is no size yet that could be refused.
TEST(ShapeRules, OverflowOfFollowedIntegersIsUnknown) {
  Sketch s;
  EXPECT_EQ(s.data(s.add("Add", {ints({INT64_MAX, 2}), ints({1, 1})})), "?x3");
  EXPECT_EQ(s.data(s.add("Sub", {ints({INT64_MIN, 2}), ints({1, 1})})), "?x1");
  EXPECT_EQ(s.data(s.add("Mul", {ints({INT64_MAX, 2}), ints({2, 2})})), "?x4");
  EXPECT_EQ(s.data(s.add("Div", {ints({INT64_MIN, 2}), ints({-1, -1})})), "?x-2");
  EXPECT_EQ(s.data(s.add("Div", {ints({1, 2}), ints({0, 1})})), "?x2");
  const ValueId shape = s.add("Shape", {s.input({n(), 2})});
  const ValueId ends = s.add("Add", {shape, ints({INT64_MAX})});
  EXPECT_EQ(s.shape(s.add("Slice", {s.input({4, 4}), ints({0, 1}), ends})), "?x?");
}

/// Types that wrap around earlier than int64 are not followed, int32 as far as its elements fit.
TEST(ShapeRules, NarrowAndUnsignedIntegersAreNotFollowed) {
  Sketch s;
  const auto numbers = [](const std::vector<int64_t>& values, DType dtype) {
    return ints(values).cast(dtype);
  };
  for (const DType dtype :
       {DType::kUInt8, DType::kInt8, DType::kUInt16, DType::kInt16, DType::kUInt32, DType::kUInt64}) {
    const ValueId difference = s.add("Sub", {numbers({0}, dtype), numbers({1}, dtype)});
    EXPECT_EQ(s.data(difference), "?");
    EXPECT_EQ(s.data(s.add("Cast", {difference}, {{"to", int64_t{7}}})), "?");
    EXPECT_EQ(s.data(s.add("Cast", {numbers({1}, dtype)}, {{"to", int64_t{7}}})), "1");
    EXPECT_EQ(s.data(s.add("Concat", {numbers({1}, dtype)}, {{"axis", int64_t{0}}})), "?");
  }
  const Tensor large = Tensor::of<uint64_t>({uint64_t{1} << 63}, {1});
  EXPECT_EQ(s.data(s.add("Cast", {large}, {{"to", int64_t{7}}})), "?");
  const Tensor two = numbers({2, 2}, DType::kInt32);
  const ValueId product = s.add("Mul", {numbers({2000000000, 3}, DType::kInt32), two});
  EXPECT_EQ(s.data(product), "?x6");
  EXPECT_EQ(s.data(s.add("Div", {product, two})), "?x3");
  EXPECT_EQ(s.data(s.add("Cast", {ints({4294967301, -1})}, {{"to", int64_t{6}}})), "?x-1");
  EXPECT_EQ(s.data(s.add("Cast", {s.add("Shape", {s.input({n(), 2})})}, {{"to", int64_t{6}}})), "Nx2");
}

/// A file may say of such a list that it is longer than it is.
TEST(ShapeRules, FollowedIntegersAreAsLongAsTheirValue) {
  Sketch s;
  const ValueId shape = s.add("Shape", {s.input({n(), 4})});
  const ValueId list = s.add("Reshape", {shape, s.input({1}, DType::kInt64)});
  EXPECT_EQ(s.shape(list), "2");
  EXPECT_EQ(s.data(list), "Nx4");
  const auto sentence = [&](const std::string& op, const Tensor& operand) {
    try {
      Sketch(s).add(op, {list, operand}, {}, op == "Split" ? 2 : 1);
    } catch (const Error& error) {
      return error.sentence();
    }
    return std::string("accepted");
  };
  EXPECT_EQ(sentence("Split", ints({5000, 5000})), "parts sum up to 10000, the axis has length 2");
  EXPECT_EQ(sentence("Reshape", ints({9000})), "2 elements of shape 2 do not fit shape 9000");
}

TEST(ShapeRules, Costs) {
  Graph graph;
  Node node;
  node.op = "Gemm";
  for (const Dims& dims : {Dims{8, 512}, Dims{1000, 512}, Dims{1000}}) {
    node.inputs.push_back(graph.add_value("x", {DType::kFloat32, dims}));
  }
  node.attributes.set("transB", int64_t{1});
  node.outputs.push_back(graph.add_value("y"));
  complete_node(node);
  graph.inputs = node.inputs;
  graph.add_node(node);
  infer_types(graph);
  const auto cost = node_cost(graph, node);
  ASSERT_TRUE(cost.has_value());
  EXPECT_EQ(cost->flops, 2.0 * 8 * 512 * 1000);
  EXPECT_EQ(cost->bytes, 4.0 * (8 * 512 + 1000 * 512 + 1000 + 8 * 1000));
}

}  // namespace
}  // namespace hone::graph
