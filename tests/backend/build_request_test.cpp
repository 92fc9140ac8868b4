// The one door to an engine: what a request leaves open, and what is refused before anything is built.
#include "backend/hone/build_request.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "backend/hone/hone_backend.hpp"
#include "base/error.hpp"
#include "base/file.hpp"
#include "device/devices.hpp"
#include "engine/engine_file.hpp"
#include "engine/search/search_budget.hpp"
#include "support/graph_builder.hpp"
#include "system/cpu.hpp"
#include "tensor/zip.hpp"

namespace hone::backend {
namespace {

using testing::HasSubstr;

constexpr const char* kDigits = HONE_SOURCE_DIR "/models/digits/digits.onnx";

importer::Model small_model() {
  test::GraphBuilder b;
  const auto x = b.input("x", {graph::Dim::symbol("batch"), 8});
  graph::Graph graph = b.finish({b.node("Relu", {x})});
  return {"small", {}, std::make_shared<graph::Graph>(std::move(graph)), {{"labels", "a"}}};
}

Error refusal(const BuildRequest& request) {
  try {
    resolve(request);
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << request.model << " is resolved";
  return Error(ErrorKind::kInternal, "");
}

std::string temporary(const std::string& name) {
  return (std::filesystem::path(testing::TempDir()) / name).string();
}

TEST(BuildRequest, IsCompletedFromTheMachineAndTheModel) {
  const ResolvedBuild build = resolve({.model = kDigits});
  EXPECT_EQ(build.source, kDigits);
  EXPECT_EQ(build.device.name(), "cpu");
  EXPECT_EQ(build.options.threads, system::usable_cores());
  EXPECT_EQ(build.options.model, "digits");
  EXPECT_TRUE(build.options.metadata.contains("labels"));
  EXPECT_EQ(build.options.cache_folder, base::cache_directory());
  EXPECT_EQ(build.options.shapes.at("input").opt, (tensor::Shape{1, 1, 8, 8}));
  EXPECT_EQ(build.options.shapes.at("input").max.front(), engine::kAnySize);
}

TEST(BuildRequest, BuildsWhatIsResolved) {
  const ResolvedBuild build = resolve({.model = "", .threads = 1, .optimization_level = 0}, small_model());
  const auto engine = backend::build(build);
  EXPECT_EQ(engine->model, "small");
  EXPECT_EQ(engine->metadata.at("labels"), "a");
  EXPECT_EQ(engine->threads, 1);
  EXPECT_EQ(engine->shapes.at("x").opt, (tensor::Shape{1, 8}));
}

TEST(BuildRequest, KnowsNoCacheWhereNoneIsWanted) {
  BuildRequest request;
  request.cache = {.used = false};
  const ResolvedBuild build = resolve(request, small_model());
  EXPECT_TRUE(build.options.cache_folder.empty());
  EXPECT_TRUE(build.options.cache_file.empty());
}

TEST(BuildRequest, HasTheTimeOfTheDeviceUnlessOneIsNamed) {
  EXPECT_EQ(resolve({}, small_model()).options.budget_seconds, std::nullopt);
  EXPECT_EQ(resolve({.budget_seconds = 3}, small_model()).options.budget_seconds, 3);
  EXPECT_EQ(resolve({.budget_seconds = 0}, small_model()).options.budget_seconds,
            engine::SearchBudget::kNoLimit);
}

TEST(BuildRequest, OfABackendIsTunedForItsInputs) {
  const LoadOptions options{.threads = 2, .input_shapes = {{"x", {3, 8}}}, .timing_cache = false};
  const ResolvedBuild build = resolve(request_of(options), small_model());
  EXPECT_EQ(build.options.threads, 2);
  const engine::ShapeProfile& range = build.options.shapes.at("x");
  EXPECT_EQ(range.min, (tensor::Shape{0, 8}));
  EXPECT_EQ(range.opt, (tensor::Shape{3, 8}));
  EXPECT_EQ(range.max, (tensor::Shape{engine::kAnySize, 8}));
  EXPECT_TRUE(build.options.cache_folder.empty());
}

TEST(BuildRequest, SaysWhatIsWrongBeforeItReadsTheModel) {
  const auto expect = [](ErrorKind kind, const std::string& sentence, BuildRequest request) {
    request.model = "no/such/model.onnx";
    const Error error = refusal(request);
    EXPECT_EQ(error.kind(), kind) << error.what();
    EXPECT_THAT(error.what(), HasSubstr(sentence));
  };
  expect(ErrorKind::kUsage, "threads is -1", {.threads = -1});
  expect(ErrorKind::kUsage, "threads is 1025, the limit is 1024", {.threads = 1025});
  expect(ErrorKind::kUsage, "optimization_level is 6, outside [0, 5]", {.optimization_level = 6});
  expect(ErrorKind::kUsage, "the time to build in is -1 seconds", {.budget_seconds = -1});
  expect(ErrorKind::kUsage, "the time to build in is nan seconds", {.budget_seconds = std::nan("")});
  expect(ErrorKind::kUsage, "unknown device 'tpu' (", {.device = "tpu"});
  expect(ErrorKind::kEnvironment, "the device cpu does not run in fp16", {.precision = Precision::kFp16});
  expect(ErrorKind::kEnvironment, "the device cpu does not run in tf32",
         {.other_precisions = {Precision::kBf16, Precision::kTf32}});
  expect(ErrorKind::kBadInput, "there is no such file",
         {.cache = {.file = temporary("none.json"), .only = true}});
  expect(ErrorKind::kBadInput, "it is a directory", {.cache = {.file = testing::TempDir()}});
  expect(ErrorKind::kBadInput, "cannot open the file", {});
}

TEST(BuildRequest, NamesPrecisionsOnceEach) {
  EXPECT_EQ(parse_precisions("fp16"), std::vector{Precision::kFp16});
  EXPECT_EQ(parse_precisions("fp16+fp32"), (std::vector{Precision::kFp16, Precision::kFp32}));
  for (const auto& [names, sentence] :
       {std::pair("fp16+fp16", "precision fp16 is named twice in 'fp16+fp16'"),
        {"fp16+", "unknown precision '' ("},
        {"fp16,fp32", "unknown precision 'fp16,fp32' ("}}) {
    try {
      parse_precisions(names);
      ADD_FAILURE() << "'" << names << "' was accepted";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kUsage);
      EXPECT_THAT(error.what(), testing::StartsWith(sentence));
    }
  }
}

TEST(BuildRequest, RefusesWhatNoEngineIsBuiltFrom) {
  const std::string archive = tensor::format_zip(
      std::vector<tensor::ZipContent>{{"script/data.pkl", "}."}, {"script/code/net.py", "def forward: ..."}});
  base::write_file_atomic(temporary("script.pt"), archive);
  Error error = refusal({.model = temporary("script.pt")});
  EXPECT_EQ(error.kind(), ErrorKind::kBadInput);
  EXPECT_THAT(error.what(), HasSubstr("script.pt is a TorchScript archive, which cannot be built into an "
                                      "engine; the backend torchscript runs it"));

  const auto engine = backend::build(resolve({.threads = 1, .optimization_level = 0}, small_model()));
  engine::save_engine(*engine, device::find_device("cpu"), temporary("small.hone"));
  error = refusal({.model = temporary("small.hone")});
  EXPECT_EQ(error.kind(), ErrorKind::kBadInput);
  EXPECT_THAT(error.what(), HasSubstr("this is an engine, built already"));
}

TEST(BuildRequest, NamesTheFileOfAModelThatCannotRun) {
  ResolvedBuild build = resolve({.threads = 1, .optimization_level = 0}, small_model());
  build.source = "small.onnx";
  auto broken = std::make_shared<graph::Graph>(*build.graph);
  broken->nodes.front().op = "NoSuchOperator";
  build.graph = broken;
  try {
    backend::build(build);
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), testing::StartsWith("small.onnx: "));
  }
}

}  // namespace
}  // namespace hone::backend
