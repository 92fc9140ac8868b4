// The fields that scripts look for in trtexec's files, with numbers that can be checked by hand.
#include "report/export/trtexec_json.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "support/trace_builder.hpp"

namespace hone::report {
namespace {

using support::CopyDirection;

/// Two iterations of 1 ms: a copy there, two layers, a copy back; the first iteration copies nothing back.
support::TraceBuilder iterations() {
  support::TraceBuilder builder;
  trace::Trace& t = builder.trace;
  const auto id = [&](const char* text) { return t.strings.intern(text); };
  t.model_steps.push_back({id("conv \"1\""), id("Conv"), id("cudnn"), id(R"(["conv1","bn1"])"),
                           id(R"(["float32 1x3x8x8"])"), id(R"(["float16 1x64x4x4 NHWC"])")});
  t.model_steps.push_back({id("relu")});
  for (int i = 0; i < 2; ++i) {
    const support::Time at = 1'000'000 * (i + 1);
    const int64_t correlation = 10 * i;
    builder.step("ProfilerStep#" + std::to_string(i), at, at + 900'000);
    builder.api("cudaMemcpyAsync", at + 10'000, at + 20'000, correlation + 1);
    builder.copy(CopyDirection::kHostToDevice, 64, at + 30'000, at + 50'000, correlation + 1);
    builder.host(support::HostKind::kRange, "conv \"1\"", at + 60'000, at + 80'000);
    builder.api("cudaLaunchKernel", at + 65'000, at + 70'000, correlation + 2);
    builder.kernel("gemm", at + 100'000, at + 400'000, correlation + 2);
    builder.host(support::HostKind::kRange, "relu", at + 90'000, at + 110'000);
    builder.api("cudaLaunchKernel", at + 95'000, at + 100'000, correlation + 3);
    builder.kernel("relu", at + 400'000, at + 500'000, correlation + 3);
    if (i == 0) continue;
    builder.api("cudaMemcpyAsync", at + 120'000, at + 130'000, correlation + 4);
    builder.copy(CopyDirection::kDeviceToHost, 64, at + 600'000, at + 650'000, correlation + 4);
  }
  builder.build();
  return builder;
}

TEST(TrtexecJson, ProfileHasTheTimesOfLayers) {
  const support::TraceBuilder builder = iterations();
  const Json json = trtexec_profile(analyze_layers(builder.trace, analysis::find_steps(builder.trace)));
  ASSERT_EQ(json.size(), 3U);
  EXPECT_EQ(json[0], Json({{"count", 2}}));
  EXPECT_EQ(json[1]["name"], "conv \"1\"");
  EXPECT_DOUBLE_EQ(json[1]["timeMs"], 0.6);
  EXPECT_DOUBLE_EQ(json[1]["averageMs"], 0.3);
  EXPECT_DOUBLE_EQ(json[1]["medianMs"], 0.3);
  EXPECT_DOUBLE_EQ(json[1]["percentage"], 75);
  EXPECT_DOUBLE_EQ(json[2]["percentage"], 25);
}

TEST(TrtexecJson, LayerInfoHasWhatWasRecorded) {
  const support::TraceBuilder builder = iterations();
  const Json json = trtexec_layer_info(analyze_layers(builder.trace, analysis::find_steps(builder.trace)));
  ASSERT_EQ(json["Layers"].size(), 2U);
  const Json& conv = json["Layers"][0];
  EXPECT_EQ(conv["Name"], "conv \"1\"");
  EXPECT_EQ(conv["LayerType"], "Conv");
  EXPECT_EQ(conv["TacticName"], "cudnn");
  EXPECT_EQ(conv["Metadata"], "[ONNX Layer: conv1]\x1e[ONNX Layer: bn1]");
  EXPECT_EQ(conv["Inputs"][0]["Dimensions"], Json({1, 3, 8, 8}));
  EXPECT_EQ(conv["Inputs"][0]["Format/Datatype"], "float32");
  EXPECT_EQ(conv["Outputs"][0]["Dimensions"], Json({1, 64, 4, 4}));
  EXPECT_EQ(conv["Outputs"][0]["Format/Datatype"], "float16 NHWC");
  EXPECT_TRUE(json["Layers"][1]["Inputs"].empty());
  EXPECT_FALSE(json["Layers"][1].contains("TacticName"));
  EXPECT_TRUE(json["Bindings"].is_array());
}

TEST(TrtexecJson, TimesTellTheDeviceFromTheHost) {
  const support::TraceBuilder builder = iterations();
  const Json json = trtexec_times(builder.trace, analysis::find_steps(builder.trace));
  ASSERT_EQ(json.size(), 2U);
  const Json& second = json[1];
  EXPECT_DOUBLE_EQ(second["startEnqMs"], 1.01);
  EXPECT_DOUBLE_EQ(second["endEnqMs"], 1.13);
  EXPECT_DOUBLE_EQ(second["startH2dMs"], 1.03);
  EXPECT_DOUBLE_EQ(second["endH2dMs"], 1.05);
  EXPECT_DOUBLE_EQ(second["startComputeMs"], 1.1);
  EXPECT_DOUBLE_EQ(second["endComputeMs"], 1.5);
  EXPECT_DOUBLE_EQ(second["startD2hMs"], 1.6);
  EXPECT_DOUBLE_EQ(second["endD2hMs"], 1.65);
  EXPECT_DOUBLE_EQ(second["h2dMs"], 0.02);
  EXPECT_DOUBLE_EQ(second["computeMs"], 0.4);
  EXPECT_DOUBLE_EQ(second["d2hMs"], 0.05);
  EXPECT_DOUBLE_EQ(second["latencyMs"], 0.47);
  EXPECT_DOUBLE_EQ(json[0]["startComputeMs"], 0.1);
  EXPECT_DOUBLE_EQ(json[0]["startD2hMs"], 0.5);  // nothing was copied back
  EXPECT_DOUBLE_EQ(json[0]["d2hMs"], 0);
}

TEST(TrtexecJson, TimesOfTheCpuAreTheIterations) {
  support::TraceBuilder builder;
  builder.step("ProfilerStep#0", 1'000'000, 3'000'000);
  const trace::Trace& trace = builder.build();
  const Json json = trtexec_times(trace, analysis::find_steps(trace));
  ASSERT_EQ(json.size(), 1U);
  EXPECT_DOUBLE_EQ(json[0]["computeMs"], 2);
  EXPECT_DOUBLE_EQ(json[0]["latencyMs"], 2);
}

TEST(TrtexecJson, CopiesTakeTheTimeInWhichOneWentOn) {
  support::TraceBuilder builder;
  builder.step("ProfilerStep#0", 1'000'000, 3'000'000);
  for (int64_t i = 1; i <= 3; ++i) builder.api("cudaMemcpyAsync", 1'000'000 + i, 1'000'001 + i, i);
  builder.copy(CopyDirection::kHostToDevice, 64, 1'100'000, 1'300'000, 1);
  builder.copy(CopyDirection::kHostToDevice, 64, 1'200'000, 1'400'000, 2);  // beside the first
  builder.copy(CopyDirection::kHostToDevice, 64, 2'500'000, 2'600'000, 3);
  const trace::Trace& trace = builder.build();
  const Json json = trtexec_times(trace, analysis::find_steps(trace));
  ASSERT_EQ(json.size(), 1U);
  EXPECT_DOUBLE_EQ(json[0]["startH2dMs"], 0.1);
  EXPECT_DOUBLE_EQ(json[0]["endH2dMs"], 1.6);
  EXPECT_DOUBLE_EQ(json[0]["h2dMs"], 0.4);
  EXPECT_DOUBLE_EQ(json[0]["latencyMs"], 0.4);
}

TEST(TrtexecJson, TimesOfATraceWithoutIterationsAreRefused) {
  support::TraceBuilder builder;
  builder.api("cudaLaunchKernel", 10, 20, 1);
  builder.kernel("gemm", 100, 400, 1);
  const trace::Trace& trace = builder.build();
  try {
    trtexec_times(trace, analysis::find_steps(trace));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kBadInput);
    EXPECT_NE(std::string(error.what()).find("announces no iterations"), std::string::npos);
  }
}

}  // namespace
}  // namespace hone::report
