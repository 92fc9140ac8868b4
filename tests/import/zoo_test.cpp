// Built-in architectures: they build, their types are known, and weights files are checked name by name.
#include "import/zoo/zoo.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <map>
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
  /// Operations of its convolutions and linear layers for one image, counted by hooks: two per multiply-add,
  /// one per bias of a convolution.
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

/// The types of inputs and outputs for inputs of these shapes; torch's own networks are compared in
/// tests/zoo.
struct Interface {
  const char* name;
  std::map<std::string, tensor::Shape> shapes;
  std::vector<std::string> outputs;
};

class ZooInterface : public testing::TestWithParam<Interface> {};

TEST_P(ZooInterface, HasTheTypesOfThePublishedNetwork) {
  const auto graph = build_architecture(GetParam().name, {});
  ASSERT_TRUE(graph.has_value());
  const graph::Graph bound = graph::with_input_shapes(*graph, GetParam().shapes);
  std::vector<std::string> outputs;
  for (const graph::ValueId id : bound.outputs)
    outputs.push_back(bound.value(id).name + " " + bound.value(id).type.text());
  outputs.resize(GetParam().outputs.size());
  EXPECT_EQ(outputs, GetParam().outputs);
}

/// `inputs` and the caches of `layers` layers.
std::map<std::string, tensor::Shape> with_caches(std::map<std::string, tensor::Shape> inputs, int layers,
                                                 const tensor::Shape& cache) {
  for (int layer = 0; layer < layers; ++layer) {
    inputs[fmt::format("past_key_values.{}.key", layer)] = cache;
    inputs[fmt::format("past_key_values.{}.value", layer)] = cache;
  }
  return inputs;
}

const std::map<std::string, tensor::Shape> kTwoSentences{
    {"input_ids", {2, 9}}, {"attention_mask", {2, 9}}, {"token_type_ids", {2, 9}}};
const std::map<std::string, tensor::Shape> kImage{{"input", {2, 3, 224, 224}}};

INSTANTIATE_TEST_SUITE_P(
    All, ZooInterface,
    testing::Values(Interface{"vit_b_16", kImage, {"output float32[2x1000]"}},
                    Interface{"swin_t", kImage, {"output float32[2x1000]"}},
                    Interface{"convnext_tiny", kImage, {"output float32[2x1000]"}},
                    Interface{"mobilenet_v3_large", kImage, {"output float32[2x1000]"}},
                    Interface{"efficientnet_v2_s", kImage, {"output float32[2x1000]"}},
                    Interface{"deeplabv3_resnet50", kImage, {"out float32[2x21x224x224]"}},
                    Interface{"unet", {{"input", {2, 3, 256, 256}}}, {"output float32[2x3x256x256]"}},
                    Interface{"bilstm", {{"input", {2, 7, 80}}}, {"output float32[2x7x40]"}},
                    Interface{"bert_base",
                              kTwoSentences,
                              {"last_hidden_state float32[2x9x768]", "pooler_output float32[2x768]"}},
                    Interface{"minilm",
                              kTwoSentences,
                              {"last_hidden_state float32[2x9x384]", "pooler_output float32[2x384]"}},
                    Interface{"gpt2",
                              with_caches({{"input_ids", {2, 3}}}, 12, {2, 12, 5, 64}),
                              {"logits float32[2x3x50257]", "present.0.key float32[2x12x8x64]",
                               "present.0.value float32[2x12x8x64]"}},
                    Interface{"whisper_tiny_encoder",
                              {{"input_features", {2, 80, 3000}}},
                              {"last_hidden_state float32[2x1500x384]"}},
                    Interface{"whisper_base_encoder",
                              {{"input_features", {2, 80, 3000}}},
                              {"last_hidden_state float32[2x1500x512]"}},
                    Interface{"whisper_small_encoder",
                              {{"input_features", {2, 80, 3000}}},
                              {"last_hidden_state float32[2x1500x768]"}},
                    Interface{"whisper_tiny_decoder",
                              with_caches({{"input_ids", {2, 3}}, {"encoder_hidden_states", {2, 1500, 384}}},
                                          4, {2, 6, 5, 64}),
                              {"logits float32[2x3x51865]", "present.0.key float32[2x6x8x64]"}}),
    [](const auto& info) { return std::string(info.param.name); });

/// The parameters of squeezenet1_1 as a file, changed by `change`.
std::filesystem::path weights_file(const std::string& name, const std::function<void(NamedTensors&)>& change,
                                   const std::string& architecture = "squeezenet1_1") {
  const auto graph = build_architecture(architecture, {.weights = {}, .seed = 5});
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
                tensors["features.0.bias"] = tensors["features.0.bias"].cast(tensor::DType::kFloat64);
              }),
              HasSubstr("'features.0.bias' is float64[64], expected float32[64]"));
}

/// As published files have them: everything within a model with a head, gamma and beta as TensorFlow called
/// them, places that are no parameters, halves.
TEST(ZooWeights, PublishedFilesNameThingsInTheirWays) {
  const auto path = weights_file(
      "bert.safetensors",
      [](NamedTensors& tensors) {
        NamedTensors published;
        for (auto& [name, tensor] : tensors) {
          std::string other = "bert." + name;
          if (other.ends_with("LayerNorm.weight")) other.replace(other.size() - 6, 6, "gamma");
          if (other.ends_with("LayerNorm.bias")) other.replace(other.size() - 4, 4, "beta");
          if (name.ends_with(".weight") || name.ends_with(".bias")) published[other] = tensor;
        }
        published["cls.predictions.bias"] = tensor::Tensor::scalar(1.0f);
        published["bert.embeddings.position_ids"] = tensor::Tensor::scalar(int64_t{1});
        tensor::Tensor& bias = published["bert.pooler.dense.bias"];
        bias = bias.cast(tensor::DType::kBFloat16);
        tensors = std::move(published);
      },
      "minilm");
  const auto from_seed = build_architecture("minilm", {.weights = {}, .seed = 5});
  const auto from_file = build_architecture("minilm", {.weights = path});
  for (size_t i = 0; i < from_seed->values.size(); ++i) {
    const graph::Value& expected = from_seed->values[i];
    if (!expected.constant) continue;
    const tensor::Tensor& found = *from_file->values[i].constant;
    EXPECT_EQ(found.dtype(), expected.constant->dtype());
    const bool halved = expected.name == "pooler.dense.bias";
    const tensor::Tensor wanted =
        halved ? expected.constant->cast(tensor::DType::kBFloat16) : *expected.constant;
    EXPECT_TRUE(found.to_double() == wanted.to_double()) << expected.name;
  }
}

}  // namespace
}  // namespace hone::importer
