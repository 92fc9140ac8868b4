// Where samples come from, how they are cut and joined, and every way data can be wrong.
#include "quantize/data.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/file.hpp"
#include "hone/error.hpp"
#include "support/graph_builder.hpp"
#include "tensor/npy.hpp"

namespace hone::quantize {
namespace {

namespace fs = std::filesystem;
using test::Dim;
using test::GraphBuilder;
using test::Tensor;
using testing::HasSubstr;

/// A graph with these inputs of floats.
graph::Graph graph_of(const std::vector<std::pair<std::string, graph::Dims>>& inputs) {
  GraphBuilder b;
  std::vector<graph::ValueId> outputs;
  for (const auto& [name, dims] : inputs) outputs.push_back(b.node("Relu", {b.input(name, dims)}));
  return b.finish(outputs);
}

graph::Graph vectors(const Dim& batch) { return graph_of({{"x", {batch, Dim(2)}}}); }

class Data : public testing::Test {
 protected:
  Data() : folder_(fs::path(testing::TempDir()) / fmt::format("calibration_data-{}", ::getpid())) {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  ~Data() override { fs::remove_all(folder_); }

  std::string npy(const std::string& name, const Tensor& tensor) const {
    tensor::write_npy(folder_ / name, tensor);
    return (folder_ / name).string();
  }
  std::string npz(const std::string& name, const tensor::NamedTensors& tensors) const {
    tensor::write_npz(folder_ / name, tensors);
    return (folder_ / name).string();
  }

  /// The first numbers of all samples.
  static std::vector<std::vector<double>> read(CalibrationData& data) {
    std::vector<std::vector<double>> found;
    while (const auto samples = data.next()) found.push_back(samples->inputs[0].to_double());
    return found;
  }

  static std::string refusal(const graph::Graph& graph, const std::vector<std::string>& sources,
                             ErrorKind kind = ErrorKind::kBadInput) {
    try {
      CalibrationData data(graph, {sources, {}, {}, 0, 1, {}});
      read(data);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), kind) << error.what();
      return error.what();
    }
    ADD_FAILURE() << "accepted";
    return {};
  }

  fs::path folder_;
};

TEST_F(Data, CutsBatchesIntoSamples) {
  const auto graph = vectors(Dim::symbol("n"));
  CalibrationData data(graph, {{npy("b.npy", Tensor::of<float>({1, 2, 3, 4, 5, 6}, {3, 2}))}, {}, {}, 0});
  EXPECT_EQ(read(data), (std::vector<std::vector<double>>{{1, 2}, {3, 4}, {5, 6}}));
  EXPECT_EQ(data.progress(), 1);
}

TEST_F(Data, JoinsSamplesOfFilesToTheModelsBatch) {
  const auto graph = vectors(Dim(2));
  const std::string a = npy("a.npy", Tensor::of<float>({1, 2, 3, 4, 5, 6}, {3, 2}));
  const std::string b = npy("b.npy", Tensor::of<float>({7, 8, 9, 10}, {2, 2}));
  CalibrationData data(graph, {{a, b}, {}, {}, 0});
  EXPECT_EQ(read(data), (std::vector<std::vector<double>>{{1, 2, 3, 4}, {5, 6, 7, 8}}));
  EXPECT_EQ(data.left_over(), 1);
}

TEST_F(Data, ReadsAFolderInTheOrderOfNames) {
  npy("2.npy", Tensor::of<float>({3, 4}, {1, 2}));
  npz("1.npz", {{"x", Tensor::of<float>({1, 2}, {1, 2})}});
  std::ofstream(folder_ / "README.md") << "no data";
  const auto graph = vectors(Dim::symbol("n"));
  CalibrationData data(graph, {{folder_.string()}, {}, {}, 0});
  EXPECT_EQ(read(data), (std::vector<std::vector<double>>{{1, 2}, {3, 4}}));
}

TEST_F(Data, StopsAtTheLimit) {
  const auto graph = vectors(Dim::symbol("n"));
  CalibrationData data(graph, {{npy("b.npy", Tensor::of<float>({1, 2, 3, 4, 5, 6}, {3, 2}))}, {}, {}, 2});
  EXPECT_EQ(read(data).size(), 2u);
}

TEST_F(Data, LeavesInputsOfOtherAxesWhole) {
  const auto graph = graph_of({{"x", {Dim::symbol("n"), Dim(2)}}, {"s", {Dim(1)}}});
  CalibrationData data(
      graph,
      {{npz("a.npz", {{"x", Tensor::of<float>({1, 2, 3, 4}, {2, 2})}, {"s", Tensor::of<float>({5}, {1})}})},
       {},
       {},
       0});
  EXPECT_EQ(read(data), (std::vector<std::vector<double>>{{1, 2, 3, 4}}));
}

TEST_F(Data, ComesFromAProgram) {
  npy("a.npy", Tensor::of<float>({1, 2}, {1, 2}));
  npy("b.npy", Tensor::of<float>({3, 4}, {1, 2}));
  const auto graph = vectors(Dim::symbol("n"));
  const std::string program = "exec:cd " + folder_.string() + "; echo $PWD/a.npy; read word; " +
                              "[ $word = next ] && rm a.npy && echo $PWD/b.npy";
  CalibrationData data(graph, {{program}, {}, {}, 0});
  EXPECT_EQ(data.progress(), std::nullopt);
  EXPECT_EQ(read(data), (std::vector<std::vector<double>>{{1, 2}, {3, 4}}));
  EXPECT_FALSE(fs::exists(folder_ / "a.npy"));
}

TEST_F(Data, SaysWhatAProgramDiedOf) {
  const auto graph = vectors(Dim::symbol("n"));
  EXPECT_THAT(refusal(graph, {"exec:echo no images >&2; exit 7"}),
              testing::AllOf(HasSubstr("exited with code 7"), HasSubstr("no images")));
  EXPECT_THAT(refusal(graph, {"exec:true"}), HasSubstr("no samples"));
  EXPECT_THAT(refusal(graph, {"exec:echo /nowhere.npy"}), HasSubstr("/nowhere.npy"));
  EXPECT_THAT(refusal(graph, {"exec:kill -SEGV $$"}), HasSubstr("crashed"));
}

TEST_F(Data, RefusesWhatDoesNotFit) {
  const auto graph = vectors(Dim::symbol("n"));
  EXPECT_THAT(refusal(graph, {"/nowhere"}), HasSubstr("/nowhere: no such file"));
  EXPECT_THAT(refusal(graph, {folder_.string()}), HasSubstr("holds no .png"));
  EXPECT_THAT(refusal(graph, {npy("w.npy", Tensor::of<float>({1, 2, 3}, {1, 3}))}),
              testing::AllOf(HasSubstr("w.npy"), HasSubstr("input 'x'"), HasSubstr("1x3")));
  EXPECT_THAT(refusal(graph, {npy("t.npy", Tensor::of<int64_t>({1, 2}, {1, 2}))}), HasSubstr("int64"));
  EXPECT_THAT(refusal(graph, {npy("e.npy", Tensor::of<float>({}, {0, 2}))}), HasSubstr("no samples"));
  EXPECT_THAT(refusal(graph, {npz("n.npz", {{"y", Tensor::of<float>({1, 2}, {1, 2})}})}),
              HasSubstr("no array for input 'x'"));
  EXPECT_THAT(refusal(graph, {npy("nan.npy", Tensor::of<float>({1, std::nanf("")}, {1, 2}))}),
              testing::AllOf(HasSubstr("nan.npy"), HasSubstr("input 'x'"), HasSubstr("NaN at element 1")));
  std::ofstream(folder_ / "broken.npy") << "not numpy";
  EXPECT_THAT(refusal(graph, {(folder_ / "broken.npy").string()}), HasSubstr("broken.npy"));
  std::ofstream(folder_ / "text.txt") << "not an image";
  EXPECT_THAT(refusal(graph_of({{"x", {Dim(1), Dim(3), Dim(4), Dim(4)}}}), {(folder_ / "text.txt").string()}),
              HasSubstr("text.txt"));
}

TEST_F(Data, RefusesTooFewForTheBatch) {
  EXPECT_THAT(refusal(vectors(Dim(4)), {npy("a.npy", Tensor::of<float>({1, 2}, {1, 2}))}),
              testing::AllOf(HasSubstr("1 samples"), HasSubstr("batch is 4")));
}

TEST_F(Data, RefusesOneArrayForTwoInputs) {
  const auto graph = graph_of({{"x", {Dim(1), Dim(2)}}, {"y", {Dim(1), Dim(2)}}});
  EXPECT_THAT(refusal(graph, {npy("a.npy", Tensor::of<float>({1, 2}, {1, 2}))}), HasSubstr("has 2"));
  EXPECT_THAT(refusal(graph, {npz("b.npz", {{"x", Tensor::of<float>({1, 2, 3, 4}, {2, 2})},
                                            {"y", Tensor::of<float>({1, 2}, {1, 2})}})}),
              HasSubstr("2 samples for input 'x' and 1 for input 'y'"));
}

TEST_F(Data, NeedsAModelWithInputs) {
  GraphBuilder b;
  const auto graph = b.finish({b.node("Relu", {b.random({2})})});
  EXPECT_THAT(refusal(graph, {"/nowhere"}, ErrorKind::kUsage), HasSubstr("no inputs"));
}

}  // namespace
}  // namespace hone::quantize
