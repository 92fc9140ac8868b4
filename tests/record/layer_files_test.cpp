// TensorRT's layers from files, compared with hone's across different fusions.
#include "record/layer_files.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "base/error.hpp"
#include "base/json.hpp"
#include "system/scratch.hpp"

namespace hone::record {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

/// As TensorRT 8.6 tells of a network in fp16: a convolution with its activation in one layer, a residual sum
/// and its activation in another, pooling, and a copy to another format.
constexpr const char* kInformation = R"json({"Layers": [
  {"Name": "Reformatting CopyNode for Input Tensor 0 to conv1 + relu1", "LayerType": "Reformat",
   "Outputs": [{"Name": "t0", "Dimensions": [1, 3, 8, 8], "Format/Datatype": "Channel major FP16 format"}]},
  {"Name": "conv1 + relu1", "LayerType": "CaskConvolution", "TacticName": "sm80_xmma_fprop_f16",
   "Metadata": "[ONNX Layer: conv1]\u001e[ONNX Layer: relu1]",
   "Outputs": [{"Name": "t1", "Dimensions": [1, 64, 8, 8], "Format/Datatype": "Channel major FP16 format"}]},
  {"Name": "conv2", "LayerType": "CaskConvolution", "TacticName": "sm80_xmma_fprop_f16",
   "Outputs": [{"Name": "t2", "Dimensions": [1, 64, 8, 8], "Format/Datatype": "Row major linear FP32"}]},
  {"Name": "PWN(add1, relu2)", "LayerType": "PointWiseV2",
   "Outputs": [{"Name": "t3", "Dimensions": [1, 64, 8, 8], "Format/Datatype": "Channel major FP16 format"}]},
  {"Name": "pool", "LayerType": "CaskPooling", "TacticName": "sm50_xmma_pooling",
   "Outputs": [{"Name": "t4", "Dimensions": [1, 64, 1, 1], "Format/Datatype": "Channel major FP16 format"}]}]})json";

constexpr const char* kLatency = R"json([{"count": 30},
  {"name": "Reformatting CopyNode for Input Tensor 0 to conv1 + relu1", "timeMs": 0.06, "averageMs": 0.002,
   "medianMs": 0.002, "percentage": 5},
  {"name": "conv1 + relu1", "timeMs": 0.3, "averageMs": 0.010, "medianMs": 0.010, "percentage": 25},
  {"name": "conv2", "timeMs": 0.3, "averageMs": 0.012, "medianMs": 0.012, "percentage": 30},
  {"name": "PWN(add1, relu2)", "timeMs": 0.12, "averageMs": 0.004, "medianMs": 0.004, "percentage": 10},
  {"name": "pool", "timeMs": 0.09, "averageMs": 0.003, "medianMs": 0.003, "percentage": 8}])json";

class Folder {
 public:
  Folder(const std::string& information, const std::string& latency, const std::string& own = "") {
    write("trt_engine_info.json", information);
    write("trt_layer_latency.json", latency);
    if (!own.empty()) write("hone_layers.json", own);
  }
  const std::filesystem::path& path() const { return scratch_.folder(); }

 private:
  void write(const char* name, const std::string& text) const { std::ofstream(path() / name) << text; }
  system::Scratch scratch_;
};

analysis::Layer layer(const std::string& name, const std::vector<std::string>& nodes, double us,
                      const std::string& tactic, const std::string& output) {
  analysis::Layer result;
  result.name = name;
  result.tactic = tactic;
  result.sources = Json(nodes).dump();
  result.outputs = Json(std::vector{output}).dump();
  result.time.n = 20;
  result.time.mean = result.time.p50 = 1e3 * us;
  result.time.sd = 10;
  return result;
}

/// The same network in hone: the second convolution takes the sum and its activation along.
analysis::DiffSide hones_side() {
  analysis::DiffSide side;
  side.layers.layers = {
      layer("conv1 + relu1", {"conv1", "relu1"}, 6, "stem", "float16 1x64x8x8 nhwc"),
      layer("conv2 + add1 + relu2", {"conv2", "add1", "relu2"}, 9, "implicit_gemm", "float16 1x64x8x8 nhwc"),
      layer("pool", {"pool"}, 3, "pooling", "float16 1x64x1x1 nhwc")};
  for (const analysis::Layer& of : side.layers.layers) side.layers.layer_sum.mean += of.time.mean;
  side.layers.layer_sum.n = 20;
  side.layers.iteration.mean = 40'000;
  side.layers.iteration.n = 20;
  side.recorded.model = "net.onnx";
  return side;
}

const analysis::MatchedLayers* group_with(const analysis::TraceDiff& diff, const std::string& layer) {
  for (const analysis::MatchedLayers& group : diff.layers) {
    if (std::find(group.a.begin(), group.a.end(), layer) != group.a.end()) return &group;
  }
  return nullptr;
}

TEST(LayerFiles, GroupsAreTheSmallestCommonSetsOfNodes) {
  const Folder folder(kInformation, kLatency);
  ASSERT_TRUE(holds_layer_files(folder.path()));
  const analysis::TraceDiff diff = compare_traces(read_layer_files(folder.path()), hones_side());
  ASSERT_EQ(diff.layers.size(), 3);
  const auto* first = group_with(diff, "conv1 + relu1");
  ASSERT_NE(first, nullptr);
  EXPECT_THAT(first->a,
              ElementsAre("Reformatting CopyNode for Input Tensor 0 to conv1 + relu1", "conv1 + relu1"));
  EXPECT_THAT(first->b, ElementsAre("conv1 + relu1"));
  EXPECT_DOUBLE_EQ(first->time_a.mean, 12'000);
  EXPECT_THAT(first->reasons, Contains(HasSubstr("A spends 2.000 us in 1 layer that only reformats")));
  EXPECT_THAT(first->reasons, Contains("A runs sm80_xmma_fprop_f16; B runs stem"));
  const auto* second = group_with(diff, "conv2");
  ASSERT_NE(second, nullptr);
  EXPECT_THAT(second->a, ElementsAre("conv2", "PWN(add1, relu2)"));
  EXPECT_THAT(second->b, ElementsAre("conv2 + add1 + relu2"));
  EXPECT_DOUBLE_EQ(second->change(), -7'000);
  EXPECT_THAT(second->reasons, Contains("A makes fp16 and fp32, B fp16"));
  EXPECT_THAT(second->reasons, Contains("A computes it in 2 layers, B in 1"));
  EXPECT_EQ(group_with(diff, "pool")->change(), 0);
}

TEST(LayerFiles, BothSidesCountByTheirLayers) {
  const Folder folder(kInformation, kLatency);
  const analysis::TraceDiff diff = compare_traces(read_layer_files(folder.path()), hones_side());
  EXPECT_DOUBLE_EQ(diff.iteration_a.mean, 31'000);
  EXPECT_DOUBLE_EQ(diff.iteration_b.mean, 18'000);
  EXPECT_THAT(diff.notes, Contains(HasSubstr("one side has no iterations")));
  double sum = 0;
  for (const analysis::WaterfallBar& bar : diff.waterfall) sum += bar.change;
  EXPECT_DOUBLE_EQ(sum, -13'000);
}

TEST(LayerFiles, HonesOwnFileAddsSpreadAndNodes) {
  const Folder folder(kInformation, kLatency, R"({"model": "net.onnx", "engine_ms": 0.025, "layers": [
    {"name": "conv1 + relu1", "nodes": ["first"], "sd_ms": 0.0005}]})");
  const analysis::DiffSide side = read_layer_files(folder.path());
  EXPECT_EQ(side.recorded.model, "net.onnx");
  EXPECT_THAT(side.notes,
              ElementsAre(HasSubstr("together; without it the engine takes 25.00 us, 1.24 times less")));
  const analysis::Layer& conv = side.layers.layers[1];
  EXPECT_EQ(conv.sources, R"(["first"])");
  EXPECT_EQ(conv.time.n, 30);
  EXPECT_DOUBLE_EQ(conv.time.sd, 500);
  EXPECT_EQ(side.layers.layers[2].time.n, 1) << "a mean whose spread nobody knows";
}

TEST(LayerFiles, WhatIsWrongIsSaid) {
  const auto expect_error = [](const Folder& folder, const std::string& sentence) {
    try {
      read_layer_files(folder.path());
      FAIL() << sentence;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kBadInput);
      EXPECT_THAT(error.what(), HasSubstr(sentence));
    }
  };
  expect_error({"[]", kLatency},
               "trt_engine_info.json: the engine's information is no JSON object with 'Layers'");
  expect_error({kInformation, "no JSON"}, "trt_layer_latency.json: it is no JSON");
  expect_error({kInformation, "{}"}, "trt_layer_latency.json: it is no list that begins with an object");
  expect_error({kInformation, "[]"}, "trt_layer_latency.json: it is no list that begins with an object");
  expect_error({kInformation, R"([{"count": 3}, {"name": "conv2", "averageMs": -1}])"}, "'averageMs' is -1");
  expect_error({kInformation, R"([{"count": 3}, {"averageMs": 1}])"}, "entry 1 has no name");
  expect_error({kInformation, R"([{"count": 3}, {"name": "conv2", "averageMs": 1}])"},
               "'medianMs' is missing");
  expect_error({kInformation, kLatency, "[1]"}, "hone_layers.json: it is no object with 'layers'");
  const system::Scratch empty;
  EXPECT_FALSE(holds_layer_files(empty.folder()));
}

}  // namespace
}  // namespace hone::record
