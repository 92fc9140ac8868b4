// Built-in architectures: they build, their types are known, and weights files are checked name by name.
#include "import/zoo/zoo.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <set>

#include "graph/infer.hpp"
#include "graph/operator.hpp"
#include "import/safetensors.hpp"

namespace hone::importer {
namespace {

using testing::HasSubstr;

struct Expected {
  const char* name;
  /// torchvision 0.14: elements of parameters() and of the floating-point buffers.
  int64_t parameters;
  int64_t statistics;
  /// Of its convolutions and linear layers for one image, counted by hooks: two per multiply-add, one per
  /// bias of a convolution.
  double flops;
};

/// Elements of the floating-point constants of rank 1 and more: the statistics of batch normalization (its
/// inputs 3 and 4), or what frameworks call parameters, all others.
int64_t constant_elements(const graph::Graph& graph, bool statistics) {
  std::set<graph::ValueId> ids;
  for (const graph::Node& node : graph.nodes) {
    if (node.op == "BatchNormalization") ids.insert({node.input(3), node.input(4)});
  }
  int64_t elements = 0;
  for (size_t i = 0; i < graph.values.size(); ++i) {
    const auto& constant = graph.values[i].constant;
    if (!constant || !tensor::is_floating(constant->dtype()) || constant->rank() == 0) continue;
    if (ids.contains(static_cast<graph::ValueId>(i)) == statistics) elements += constant->size();
  }
  return elements;
}

class Zoo : public testing::TestWithParam<Expected> {};

TEST_P(Zoo, BuildsWithKnownTypes) {
  const auto graph = build_architecture(GetParam().name, {});
  ASSERT_TRUE(graph.has_value());
  EXPECT_EQ(graph->value(graph->inputs.at(0)).type.text(), "float32[batchx3x224x224]");
  EXPECT_EQ(graph->value(graph->outputs.at(0)).name, "output");
  const graph::Graph bound = graph::with_input_shapes(*graph, {{"input", {1, 3, 224, 224}}});
  EXPECT_EQ(bound.value(bound.outputs.at(0)).type.text(), "float32[1x1000]");
  EXPECT_EQ(constant_elements(bound, false), GetParam().parameters);
  EXPECT_EQ(constant_elements(bound, true), GetParam().statistics);
  double flops = 0;
  for (const graph::Node& node : bound.nodes) {
    const auto cost = graph::node_cost(bound, node);
    ASSERT_TRUE(cost.has_value()) << node.text();
    if (node.op == "Conv" || node.op == "Gemm") flops += cost->flops;
  }
  EXPECT_EQ(flops, GetParam().flops);
}

INSTANTIATE_TEST_SUITE_P(All, Zoo,
                         testing::Values(Expected{"resnet18", 11689512, 9600, 3628146688},
                                         Expected{"resnet34", 21797672, 17024, 7327522816},
                                         Expected{"resnet50", 25557032, 53120, 8178368512},
                                         Expected{"resnet101", 44549160, 105344, 15602810880},
                                         Expected{"mobilenet_v2", 3504872, 34112, 601548544},
                                         Expected{"alexnet", 61100840, 0, 1428861952},
                                         Expected{"vgg16", 138357544, 0, 30954076160},
                                         Expected{"squeezenet1_1", 1235496, 0, 700893224},
                                         Expected{"densenet121", 7978856, 83648, 5668323328},
                                         Expected{"efficientnet_b0", 5288548, 42016, 771638844}),
                         [](const auto& info) { return std::string(info.param.name); });

/// The parameters of squeezenet1_1 as a file, changed by `change`.
std::filesystem::path weights_file(const std::string& name,
                                   const std::function<void(NamedTensors&)>& change) {
  const auto graph = build_architecture("squeezenet1_1", {.weights = {}, .seed = 5});
  NamedTensors tensors;
  for (const graph::Value& value : graph->values) {
    if (value.constant) tensors[value.name] = *value.constant;
  }
  change(tensors);
  const auto path = std::filesystem::path(testing::TempDir()) / name;
  write_safetensors(path, tensors);
  return path;
}

std::string weights_error(const std::function<void(NamedTensors&)>& change) {
  try {
    build_architecture("squeezenet1_1", {.weights = weights_file("bad.safetensors", change)});
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kBadInput);
    EXPECT_THAT(error.what(), HasSubstr("bad.safetensors: tensor '"));
    return error.what();
  }
  ADD_FAILURE() << "accepted";
  return {};
}

TEST(ZooWeights, FileGivesWhatItHolds) {
  const auto path = weights_file("good.safetensors", [](NamedTensors& tensors) {
    tensors["features.1.num_batches_tracked"] = tensor::Tensor::scalar(int64_t{3});
  });
  const auto from_seed = build_architecture("squeezenet1_1", {.weights = {}, .seed = 5});
  const auto from_file = build_architecture("squeezenet1_1", {.weights = path});
  ASSERT_EQ(from_seed->values.size(), from_file->values.size());
  for (size_t i = 0; i < from_seed->values.size(); ++i) {
    if (!from_seed->values[i].constant) continue;
    EXPECT_EQ(from_seed->values[i].constant->to_double(), from_file->values[i].constant->to_double());
  }
}

TEST(ZooWeights, MissingUnexpectedAndMisshapenTensorsAreNamed) {
  EXPECT_THAT(weights_error([](auto& tensors) { tensors.erase("features.3.squeeze.bias"); }),
              HasSubstr("'features.3.squeeze.bias' is missing"));
  EXPECT_THAT(weights_error([](auto& tensors) { tensors["fc.bias"] = tensor::Tensor::scalar(1.0f); }),
              HasSubstr("'fc.bias' is no parameter"));
  EXPECT_THAT(weights_error([](auto& tensors) {
                tensors["features.0.bias"] = tensors["features.0.bias"].reshaped({8, 8});
              }),
              HasSubstr("'features.0.bias' is float32[8x8], expected float32[64]"));
  EXPECT_THAT(weights_error([](auto& tensors) {
                tensors["features.0.bias"] = tensors["features.0.bias"].cast(tensor::DType::kFloat16);
              }),
              HasSubstr("'features.0.bias' is float16[64], expected float32[64]"));
}

}  // namespace
}  // namespace hone::importer
