// A worker gets all setups of a sweep, and reports an engine's layers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "bench/worker/protocol.hpp"
#include "bench/worker/worker_server.hpp"

namespace hone::bench {
namespace {

using testing::ElementsAre;

class LayeredExecutable final : public backend::Executable {
 public:
  std::vector<tensor::Tensor> run(std::span<const tensor::Tensor>) override { return {}; }
  void upload(std::span<const tensor::Tensor>) override { ++uploads_; }
  bool has_layers() const override { return true; }
  backend::LayerProfile profile_layers(int runs) override {
    backend::LayerProfile profile;
    profile.layers = {{"conv + relu", std::vector<double>(static_cast<size_t>(runs), 0.5), {"conv", "relu"}}};
    profile.engine_ms.assign(static_cast<size_t>(runs), 0.25);
    profile.description = fmt::format("uploads {}", uploads_);
    return profile;
  }

 private:
  int uploads_ = 0;
};

class LayeredBackend final : public backend::Backend {
 public:
  explicit LayeredBackend(backend::LoadOptions& options) : options_(options) {}
  std::string_view name() const override { return "layered"; }
  std::string version(std::string_view) const override { return "1"; }
  bool reads(const std::filesystem::path& file) const override { return file.extension() == ".plan"; }
  std::unique_ptr<backend::Executable> load(const importer::Model& model,
                                            const backend::LoadOptions& options) override {
    EXPECT_EQ(model.graph, nullptr);
    EXPECT_EQ(model.file, "net.plan");
    options_ = options;
    return std::make_unique<LayeredExecutable>();
  }

 private:
  backend::LoadOptions& options_;
};

std::vector<Json> answers_to(std::vector<std::string> lines, backend::LoadOptions& options) {
  std::vector<Json> answers;
  size_t next = 0;
  WorkerServer server(
      [](const std::string&) -> importer::Model { fail_bad_input("no importer reads its own files"); },
      [&](const std::string&) { return std::make_unique<LayeredBackend>(options); });
  server.serve(
      [&](std::string* line) {
        if (next == lines.size()) return false;
        *line = lines[next++];
        return true;
      },
      [&](const std::string& line) { answers.push_back(Json::parse(line)); });
  return answers;
}

TEST(WorkerLayers, AreTimedOnInputsOrOnlyListed) {
  LoadRequest load;
  load.setup.model = "net.plan";
  load.profiles = {{{"x", {1, 3}}}, {{"x", {8, 3}}}};
  load.settings = {{"tensorrt.level", "2"}};
  Json line = to_json(load);
  line["type"] = "load";
  backend::LoadOptions options;
  const auto answers = answers_to(
      {R"({"id":1,"type":"hello","backend":"layered"})", line.dump(), R"({"id":3,"type":"layers","runs":0})",
       R"({"id":4,"type":"layers","runs":2})", R"({"id":5,"type":"layers","runs":-1})"},
      options);
  ASSERT_EQ(answers.size(), 5u);
  EXPECT_EQ(answers[1]["features"], (Json{"trace", "layers"})) << answers[1];
  EXPECT_EQ(options.profiles, load.profiles);
  EXPECT_EQ(options.settings, load.settings);
  EXPECT_EQ(parse_layer_profile(answers[2]).description, "uploads 0");
  const backend::LayerProfile timed = parse_layer_profile(answers[3]);
  EXPECT_EQ(timed.description, "uploads 1");
  EXPECT_THAT(timed.layers[0].times_ms, ElementsAre(0.5, 0.5));
  EXPECT_THAT(timed.layers[0].nodes, ElementsAre("conv", "relu"));
  EXPECT_THAT(timed.engine_ms, ElementsAre(0.25, 0.25));
  EXPECT_EQ(answers[4]["kind"], "bad input");
}

TEST(WorkerLayers, OfABadAnswerAreRefused) {
  const auto profile = [](const Json& layers, const Json& engine) {
    return Json{{"layers", layers}, {"engine_ms", engine}, {"description", "{}"}};
  };
  const auto layer = [](const Json& times) {
    return Json{{"name", "a"}, {"times_ms", times}, {"nodes", Json::array()}};
  };
  EXPECT_NO_THROW(parse_layer_profile(profile({layer({1, 2}), layer({0, 3})}, {1})));
  EXPECT_THROW(parse_layer_profile(profile({layer({1, 2}), layer({3})}, {1})), Error) << "a run is missing";
  EXPECT_THROW(parse_layer_profile(profile({layer({-1})}, {1})), Error);
  EXPECT_THROW(parse_layer_profile(profile(Json::array(), {"fast"})), Error);
  EXPECT_THROW(parse_layer_profile(Json::object()), Error);
}

}  // namespace
}  // namespace hone::bench
