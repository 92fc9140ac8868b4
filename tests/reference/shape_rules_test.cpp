// Shape rules of resizing, sampling, recurrent and detection operators: symbols stay where sizes do, and
// what does not fit is refused by name.
#include <gtest/gtest.h>

#include <cmath>

#include "reference/single_node.hpp"
#include "tensor/tensor.hpp"

namespace hone::reference {
namespace {

using graph::Dim;
using graph::Dims;
using graph::Node;
using tensor::DType;
using tensor::Tensor;
using Ints = std::vector<int64_t>;

/// Type of output `output` of a node whose inputs are declared, or constant where a tensor is given.
struct Declared {
  graph::Graph graph;
  Node node;

  explicit Declared(Node what) : node(std::move(what)) {}
  Declared& input(Dims dims, DType dtype = DType::kFloat32) {
    node.inputs.push_back(
        graph.add_value("x" + std::to_string(node.inputs.size()), {dtype, std::move(dims)}));
    graph.inputs.push_back(node.inputs.back());
    return *this;
  }
  Declared& constant(Tensor tensor) {
    node.inputs.push_back(graph.add_constant("x" + std::to_string(node.inputs.size()), std::move(tensor)));
    return *this;
  }
  Declared& absent() {
    node.inputs.push_back(graph::kNoValue);
    return *this;
  }
  std::string type(size_t outputs = 1, size_t output = 0) {
    for (size_t i = 0; i < outputs; ++i) node.outputs.push_back(graph.add_value("y" + std::to_string(i)));
    graph::complete_node(node);
    graph.add_node(node);
    graph::infer_types(graph);
    return graph.value(node.outputs[output]).type.text();
  }
};

const Dim kBatch = Dim::symbol("batch");
const Dim kHeight = Dim::symbol("height");

TEST(ResizeRule, KeepsSymbolsOfAxesThatStay) {
  const Dims x{kBatch, 3, kHeight, 8};
  EXPECT_EQ(
      Declared(node_of("Resize")).input(x).absent().constant(Tensor::of<float>({1, 1, 2, 2}, {4})).type(),
      "float32[batchx3x?x?]");
  EXPECT_EQ(Declared(node_of("Resize", {{"axes", Ints{3}}}))
                .input(x)
                .absent()
                .constant(Tensor::of<float>({0.5f}, {1}))
                .type(),
            "float32[batchx3xheightx?]");
  EXPECT_EQ(Declared(node_of("Resize", {{"axes", Ints{-2, -1}}}))
                .input(x)
                .absent()
                .absent()
                .constant(Tensor::of<int64_t>({5, 7}, {2}))
                .type(),
            "float32[batchx3x5x7]");
}

TEST(ResizeRule, RefusesByName) {
  const Tensor x = ramp({1, 1, 4, 4});
  const Tensor none;
  const Tensor sizes = Tensor::of<int64_t>({1, 1, 2, 2}, {4});
  const Tensor scales = Tensor::of<float>({1, 1, 2, 0}, {4});
  const std::string both = "exactly one of the inputs 'scales' and 'sizes' is needed";
  EXPECT_EQ(refusal(node_of("Resize"), {x, none, scales, sizes}), both);
  EXPECT_EQ(refusal(node_of("Resize"), {x}), both);
  EXPECT_EQ(refusal(node_of("Resize"), {x, none, scales}), "input 'scales' holds 0");
  EXPECT_EQ(refusal(node_of("Resize"), {x, none, none, Tensor::of<int64_t>({1, 1, 2}, {3})}),
            "input 'sizes' has 3 elements, expected 4");
  EXPECT_EQ(
      refusal(node_of("Resize", {{"axes", Ints{2, -2}}}), {x, none, none, Tensor::of<int64_t>({3, 3}, {2})}),
      "attribute 'axes' names axis 2 twice");
  EXPECT_EQ(
      refusal(node_of("Resize", {{"coordinate_transformation_mode", std::string("tf_crop_and_resize")}}),
              {x, none, none, sizes}),
      "tf_crop_and_resize needs the input 'roi'");
  EXPECT_EQ(refusal(node_of("Resize", {{"coordinate_transformation_mode", std::string("centre")}}),
                    {x, none, none, sizes}),
            "attribute 'coordinate_transformation_mode' is 'centre'");
  // A size whose tensor could never be held is refused before anything is allocated.
  EXPECT_NE(refusal(node_of("Resize"), {x, none, none, Tensor::of<int64_t>({1, 1, 1 << 30, 1 << 30}, {4})}),
            "");
  EXPECT_NE(refusal(node_of("Resize"), {x, none, Tensor::of<float>({1, 1, 1e30f, 1}, {4})}), "");
}

TEST(SamplingRules, RefuseByName) {
  const Tensor x = ramp({1, 2, 4, 4});
  EXPECT_EQ(refusal(node_of("GridSample"), {x, ramp({1, 3, 3, 3})}),
            "input 1 has shape 1x3x3x3, expected rank 4 with 2 coordinates");
  EXPECT_EQ(refusal(node_of("GridSample"), {x, ramp({2, 3, 3, 2})}),
            "inputs 0 and 1 have batches of 1 and 2");
  EXPECT_EQ(refusal(node_of("GridSample", {{"padding_mode", std::string("wrap")}}), {x, ramp({1, 3, 3, 2})}),
            "attribute 'padding_mode' is 'wrap', expected one of zeros, border, reflection");
  EXPECT_EQ(refusal(node_of("AffineGrid"), {ramp({1, 2, 3}), Tensor::of<int64_t>({1, 1, 0, 3}, {4})}),
            "input 1 holds the size 0");
  EXPECT_EQ(refusal(node_of("Col2Im"),
                    {ramp({1, 5, 4}), Tensor::of<int64_t>({3, 3}, {2}), Tensor::of<int64_t>({2, 2}, {2})}),
            "input 0 has 5 rows, no multiple of a block of 4");
  EXPECT_EQ(refusal(node_of("Col2Im"),
                    {ramp({1, 4, 5}), Tensor::of<int64_t>({3, 3}, {2}), Tensor::of<int64_t>({2, 2}, {2})}),
            "input 0 has 5 columns, expected 4 blocks");
  EXPECT_EQ(refusal(node_of("Col2Im"),
                    {ramp({1, 4, 5}), Tensor::of<int64_t>({3, 3}, {2}), Tensor::of<int64_t>({0, 2}, {2})}),
            "kernel size 0 of spatial axis 0 is not positive");
  EXPECT_EQ(refusal(node_of("DeformConv", {{"offset_group", int64_t{0}}}),
                    {x, ramp({1, 2, 1, 1}), ramp({1, 2, 4, 4})}),
            "attribute 'offset_group' is 0, expected at least 1");
  EXPECT_EQ(refusal(node_of("DeformConv"), {x, ramp({1, 2, 1, 1}), ramp({1, 3, 4, 4})}),
            "input 2 has shape 1x3x4x4, expected 1x2x4x4");
}

TEST(RecurrentRules, FollowLayoutAndDirection) {
  const Dims w{2, 24, 4};
  const Dims r{2, 24, 6};
  const Node forward = node_of("LSTM", {{"direction", std::string("bidirectional")}});
  EXPECT_EQ(Declared(forward).input({Dim::symbol("steps"), kBatch, 4}).input(w).input(r).type(3),
            "float32[stepsx2xbatchx6]");
  EXPECT_EQ(Declared(forward).input({Dim::symbol("steps"), kBatch, 4}).input(w).input(r).type(3, 2),
            "float32[2xbatchx6]");
  const Node batch_major =
      node_of("LSTM", {{"direction", std::string("bidirectional")}, {"layout", int64_t{1}}});
  EXPECT_EQ(Declared(batch_major).input({kBatch, Dim::symbol("steps"), 4}).input(w).input(r).type(1),
            "float32[batchxstepsx2x6]");
}

TEST(RecurrentRules, RefuseByName) {
  const Tensor x = ramp({3, 2, 4});
  const Tensor w = ramp({1, 18, 4});
  const Tensor r = ramp({1, 18, 6});
  const Tensor none;
  EXPECT_EQ(refusal(node_of("GRU"), {x, ramp({1, 18, 5}), r}), "input 1 has shape 1x18x5, expected 1x18x4");
  EXPECT_EQ(refusal(node_of("GRU"), {x, w, ramp({18, 6})}), "input 2 has rank 2, expected 3");
  EXPECT_EQ(refusal(node_of("GRU", {{"hidden_size", int64_t{5}}}), {x, w, r}),
            "input 1 has shape 1x18x4, expected 1x15x4");
  EXPECT_EQ(refusal(node_of("GRU", {{"direction", std::string("sideways")}}), {x, w, r}),
            "attribute 'direction' is 'sideways', expected forward, reverse or bidirectional");
  EXPECT_EQ(refusal(node_of("GRU", {{"activations", std::vector<std::string>{"Tanh"}}}), {x, w, r}),
            "attribute 'activations' has 1 entries, expected 2");
  EXPECT_EQ(refusal(node_of("GRU", {{"activations", std::vector<std::string>{"Tanh", "Cosine"}}}), {x, w, r}),
            "attribute 'activations' holds 'Cosine'");
  EXPECT_EQ(refusal(node_of("GRU"), {x, w, r, none, Tensor::of<int32_t>({1, 4}, {2})}),
            "input 4 holds the length 4, outside [0, 3]");
}

TEST(DetectionRules, RefuseByName) {
  const Tensor x = ramp({1, 2, 4, 4});
  const Tensor rois = ramp({3, 4});
  const Tensor images = Tensor::of<int64_t>({0, 0, 1}, {3});
  EXPECT_EQ(refusal(node_of("RoiAlign"), {x, rois, images}), "a region lies in image 1 of 1");
  EXPECT_EQ(refusal(node_of("RoiAlign", {{"output_height", int64_t{0}}}), {x, rois, images}),
            "attribute 'output_height' is 0, expected at least 1");
  const Tensor first = Tensor::of<int64_t>({0}, {1});
  EXPECT_NE(refusal(node_of("RoiAlign"), {x, Tensor::of<float>({0, 0, 1e30f, 1e30f}, {1, 4}), first}), "");
  EXPECT_NE(refusal(node_of("RoiAlign"), {x, Tensor::of<float>({0, 0, NAN, 1}, {1, 4}), first}), "");
  // A region turned inside out takes no samples, however large it is.
  const auto y =
      run_single_node(node_of("RoiAlign"), {x, Tensor::of<float>({1e30f, 1e30f, 0, 0}, {1, 4}), first});
  EXPECT_EQ(y[0].values<float>()[0], 0);
  EXPECT_EQ(refusal(node_of("MaxRoiPool", {{"pooled_shape", Ints{2}}}), {x, ramp({1, 5})}),
            "attribute 'pooled_shape' has 1 entries, expected 2");
  EXPECT_EQ(refusal(node_of("NonMaxSuppression"), {ramp({1, 6, 4}), ramp({1, 2, 5})}),
            "input 1 has shape 1x2x5, expected 1x?x6");
}

}  // namespace
}  // namespace hone::reference
