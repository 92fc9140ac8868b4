// Layers of a benchmarked run: shapes, types and times in one table that fits 80 columns, and as CSV.
#include "report/terminal/bench_layers.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace hone::report {
namespace {

using ::testing::HasSubstr;

bench::SweepRecord sweep() {
  bench::RunRecord run;
  run.setup = {"net, old", "hone", "fp32", 8};
  run.samples = {{4, 4, 4}, {4, 4, 4}};
  bench::TimesFigure time;
  time.p50 = 3;
  time.mean = 3.5;
  time.n = 50;
  time.p50_interval = std::array{2.9, 3.1};
  run.layers.push_back({"conv + relu",
                        "Conv",
                        "onednn_convolution",
                        {"conv", "relu"},
                        {"float32 8x3x224x224"},
                        {"float32 8x64x112x112 blocked8"},
                        time,
                        1e9,
                        1e6});
  time.p50 = 1;
  run.layers.push_back(
      {"add", "Add", "vector_map", {"add"}, {"float32 8x64", "float32 64"}, {"float32 8x64"}, time});
  bench::SweepRecord sweep;
  sweep.runs.push_back(run);
  sweep.runs.emplace_back().setup = {"net, old", "torch", "fp32", 8};
  return sweep;
}

std::string text_of(size_t width) {
  std::string text;
  for (const std::string& line :
       sheet_text(bench_layer_sheet(sweep().runs.front()), {.width = width, .rows = 1}))
    text += line + "\n";
  return text;
}

TEST(BenchLayers, AreATableOfShapesTypesAndTimes) {
  const std::string text = text_of(160);
  for (const char* part :
       {"Layers of net, old hone fp32 batch 8", "75.0 %", "3.000 ms", "float32 8x3x224x224",
        "float32 8x64x112x112 blocked8", "conv + relu", "onednn_convolution", "25.0 %",
        "float32 8x64, float32 64", "2 layers, medians of 50 runs: together 4.000 ms; a run takes 4.000 ms"})
    EXPECT_THAT(text, HasSubstr(part));
}

TEST(BenchLayers, FitANarrowTerminal) {
  const std::string text = text_of(80);
  size_t begin = 0;
  for (size_t end = text.find('\n'); end != std::string::npos;
       begin = end + 1, end = text.find('\n', begin)) {
    const std::string line = text.substr(begin, end - begin);
    const auto shown = std::count_if(line.begin(), line.end(), [](char c) { return (c & 0xc0) != 0x80; });
    EXPECT_LE(shown, 80) << line;
  }
  EXPECT_THAT(text, HasSubstr("3.000 ms"));
  for (const char* part : {"8x3x224x224", "f32 8x64x112x112", "f32 8x64 +1"})
    EXPECT_THAT(text, HasSubstr(part));
}

TEST(BenchLayers, AreALineEachInCsv) {
  EXPECT_EQ(
      layers_csv(sweep()),
      "model,backend,precision,batch,layer,kind,tactic,inputs,outputs,p50_ms,p50_low_ms,p50_high_ms,mean_ms,"
      "samples,flops,bytes\n"
      "\"net, old\",hone,fp32,8,conv + relu,Conv,onednn_convolution,float32 8x3x224x224,"
      "float32 8x64x112x112 blocked8,3,2.9,3.1,3.5,50,1e+09,1e+06\n"
      "\"net, old\",hone,fp32,8,add,Add,vector_map,float32 8x64; float32 64,float32 8x64,1,2.9,3.1,3.5,50,0,"
      "0\n");
}

}  // namespace
}  // namespace hone::report
