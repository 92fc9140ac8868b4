// Which of the model's nodes a layer of TensorRT computes, and what its profiler's figures become.
#include "backend/tensorrt/layers.hpp"

#include <gmock/gmock.h>

#include "base/error.hpp"

namespace hone::backend::tensorrt {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(TensorrtLayers, MetadataNameTheNodes) {
  EXPECT_THAT(nodes_of_layer("anything", "[ONNX Layer: /conv1/Conv]\x1e[ONNX Layer: /relu/Relu]"),
              ElementsAre("/conv1/Conv", "/relu/Relu"));
  EXPECT_THAT(nodes_of_layer("x", "[ONNX Layer: a[0]]\x1f[ONNX Layer: a[0]]\x1e[ONNX Layer: b]"),
              ElementsAre("a[0]", "b"));
  EXPECT_THAT(nodes_of_layer("Reformatting CopyNode", "[ONNX Layer: c"), ElementsAre("c"));
}

TEST(TensorrtLayers, NamesNameTheNodesWhereThereAreNoMetadata) {
  EXPECT_THAT(nodes_of_layer("conv1 + bn1 + relu1", ""), ElementsAre("conv1", "bn1", "relu1"));
  EXPECT_THAT(nodes_of_layer("left || right", ""), ElementsAre("left", "right"));
  EXPECT_THAT(nodes_of_layer("PWN(PWN(sigmoid), mul)", ""), ElementsAre("sigmoid", "mul"));
  EXPECT_THAT(nodes_of_layer("conv + PWN(a, b)", ""), ElementsAre("conv", "a", "b"));
  EXPECT_THAT(nodes_of_layer("{ForeignNode[/encoder/first.../encoder/last]}", ""),
              ElementsAre("/encoder/first", "/encoder/last"));
  EXPECT_THAT(nodes_of_layer("name(with brackets)", ""), ElementsAre("name(with brackets)"));
  EXPECT_THAT(nodes_of_layer("", ""), IsEmpty());
  EXPECT_THAT(nodes_of_layer("PWN(", ""), ElementsAre("PWN("));
  EXPECT_THAT(nodes_of_layer(") + (", ""), ElementsAre(")", "("));
}

constexpr const char* kInformation = R"({"Layers": [
  {"Name": "conv + relu", "LayerType": "CaskConvolution", "TacticName": "sm80_xmma",
   "Inputs": [{"Name": "x", "Dimensions": [1, 3, 8, 8], "Format/Datatype": "Row major linear FP16 format"}],
   "Outputs": [{"Name": "y", "Dimensions": [1, 4, 8, 8], "Format/Datatype": "Half"}], "Metadata": "[ONNX Layer: conv]"},
  {"Name": "pool", "LayerType": "CaskPooling", "Inputs": [{"Name": "y"}, {"Name": "y"}], "Outputs": [{"Name": "z"}]}],
  "Bindings": ["x", "z"]})";

TEST(TensorrtLayers, BecomeStepsThatKnowWhatTheyRead) {
  const std::vector<StepInfo> steps = layers_of(kInformation);
  ASSERT_EQ(steps.size(), 2u);
  EXPECT_EQ(steps[0].kind, "CaskConvolution");
  EXPECT_EQ(steps[0].tactic, "sm80_xmma");
  EXPECT_THAT(steps[0].sources, ElementsAre("conv"));
  EXPECT_THAT(steps[0].outputs, ElementsAre("1x4x8x8 Half"));
  EXPECT_THAT(steps[0].predecessors, IsEmpty());
  EXPECT_THAT(steps[1].predecessors, ElementsAre(0));
  EXPECT_THAT(steps[1].sources, ElementsAre("pool"));
}

TEST(TensorrtLayers, MayBeNamesOnly) {
  const std::vector<LayerTime> layers = named_layers(R"({"Layers": ["a + b", "c"], "I/O Tensors": []})");
  ASSERT_EQ(layers.size(), 2u);
  EXPECT_THAT(layers[0].nodes, ElementsAre("a", "b"));
}

TEST(TensorrtLayers, OfSomethingElseAreBadInput) {
  for (const char* text : {"", "[]", "{}", R"({"Layers": 1})", R"({"Layers": [1]})", "no JSON"})
    EXPECT_THROW(layers_of(text), Error) << text;
}

TEST(TensorrtLayers, LatenciesHaveTheFormOfTheToolsAround) {
  const LayerProfile profile{
      .layers = {{"a \"quoted\"", {1, 3, 2}, {}}, {"b", {2, 2, 2}, {}}}, .engine_ms = {}, .description = {}};
  const Json json = latency_json(profile);
  EXPECT_EQ(json[0], Json({{"count", 3}}));
  EXPECT_EQ(json[1]["name"], "a \"quoted\"");
  EXPECT_EQ(json[1]["timeMs"], 6);
  EXPECT_EQ(json[1]["averageMs"], 2);
  EXPECT_EQ(json[1]["medianMs"], 2);
  EXPECT_EQ(json[1]["percentage"], 50);
  EXPECT_EQ(latency_json({}), Json::array({{{"count", 0}}}));
}

}  // namespace
}  // namespace hone::backend::tensorrt
