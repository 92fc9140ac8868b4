// Losses of accuracy, with labels and without.
#include "quantize/evaluation.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>

#include "base/error.hpp"
#include "base/file.hpp"
#include "quantize/labels.hpp"
#include "quantize/sensitivity.hpp"
#include "support/graph_builder.hpp"
#include "tensor/npy.hpp"

namespace hone::quantize {
namespace {

using graph::Graph;
using test::Dim;
using test::GraphBuilder;
using test::Tensor;
using testing::ElementsAre;
using testing::HasSubstr;

/// Adds constants to rows of three.
Graph adding(const std::vector<float>& constants) {
  GraphBuilder b;
  const auto x = b.input("x", {Dim::symbol("n"), Dim(3)});
  return b.finish({b.node("Add", {x, b.constant(Tensor::of<float>(constants, {3}))})});
}

std::vector<Samples> rows(const std::vector<float>& numbers, int64_t count) {
  std::vector<std::string> names(static_cast<size_t>(count), "row");
  return {{{Tensor::of<float>(numbers, {count, 3})}, count, names}};
}

// The largest is element 0, 1 and 2; the added constants move the last row's to 1.
const std::vector<float> kThree = {5, 0, 0, 0, 5, 0, 0, 2, 3};
const std::vector<float> kMove = {0, 2, 0};

TEST(Evaluation, CountsRowsThatKeepTheirClass) {
  const Evaluator evaluator(adding({0, 0, 0}), rows(kThree, 3), {}, make_reference_runner);
  const Accuracy accuracy = evaluator.accuracy_of(adding(kMove));
  EXPECT_EQ(accuracy.samples, 3);
  EXPECT_NEAR(*accuracy.top1, 2.0 / 3, 1e-12);
  EXPECT_NEAR(accuracy.loss(), 1.0 / 3, 1e-12);
  EXPECT_FALSE(accuracy.right);
  // One sample's error each, as if they had been run one by one.
  EXPECT_NEAR(accuracy.relative_error, std::sqrt((4 / 25.0 + 4 / 25.0 + 4 / 13.0) / 3), 1e-6);
}

TEST(Evaluation, WithLabelsTheLossIsRelativeToWhatWasRight) {
  const Evaluator evaluator(adding({0, 0, 0}), rows(kThree, 3), {0, 0, 2}, make_reference_runner);
  const Accuracy accuracy = evaluator.accuracy_of(adding(kMove));
  EXPECT_NEAR(*accuracy.right_before, 2.0 / 3, 1e-12);
  EXPECT_NEAR(*accuracy.right, 1.0 / 3, 1e-12);
  EXPECT_NEAR(accuracy.loss(), 0.5, 1e-12);
}

TEST(Evaluation, AGainIsNoLoss) {
  const Evaluator evaluator(adding({0, 0, 0}), rows(kThree, 3), {0, 1, 1}, make_reference_runner);
  const Accuracy accuracy = evaluator.accuracy_of(adding(kMove));
  EXPECT_GT(*accuracy.right, *accuracy.right_before);
  EXPECT_EQ(accuracy.loss(), 0);
}

TEST(Evaluation, AModelThatIsNeverRightLosesNothing) {
  const Evaluator evaluator(adding({0, 0, 0}), rows(kThree, 3), {1, 2, 0}, make_reference_runner);
  EXPECT_EQ(evaluator.accuracy_of(adding(kMove)).loss(), 0);
}

TEST(Evaluation, DoubtIsWilsonsInterval) {
  Accuracy accuracy;
  accuracy.samples = 100;
  accuracy.top1 = 1;
  // z^2 / (2 (n + z^2)) where nothing was lost.
  EXPECT_NEAR(accuracy.doubt(), 3.8416 / (2 * 103.8416), 1e-6);
  accuracy.top1 = 0.9;
  EXPECT_NEAR(accuracy.doubt(), 0.0596, 1e-3);
}

TEST(Evaluation, RefusesLabelsForOutputsThatAreNoScores) {
  GraphBuilder b;
  const auto x = b.input("x", {Dim::symbol("n"), Dim(3)});
  const Graph images = b.finish({b.node("Unsqueeze", {x, b.ints({2})})});
  EXPECT_THROW(Evaluator(images, rows(kThree, 3), {0, 1, 2}, make_reference_runner), Error);
  const Evaluator evaluator(images, rows(kThree, 3), {}, make_reference_runner);
  EXPECT_FALSE(evaluator.accuracy_of(images).top1);
}

TEST(Evaluation, DivergenceIsZeroOnlyForEqualRows) {
  const Tensor a = Tensor::of<float>({1, 2, 3}, {1, 3});
  EXPECT_EQ(mean_divergence(a, a), 0);
  // Softmax does not see an offset.
  EXPECT_NEAR(mean_divergence(a, Tensor::of<float>({11, 12, 13}, {1, 3})), 0, 1e-12);
  const Tensor even = Tensor::of<float>({0, 0}, {1, 2});
  const Tensor odd = Tensor::of<float>({0, std::log(3.0F)}, {1, 2});
  EXPECT_NEAR(mean_divergence(even, odd), 0.5 * std::log(0.5 / 0.25) + 0.5 * std::log(0.5 / 0.75), 1e-6);
  // Scores this far apart leave float's range when they are powers of e.
  EXPECT_NEAR(mean_divergence(Tensor::of<float>({2000, 0}, {1, 2}), Tensor::of<float>({1999, 0}, {1, 2})), 0,
              1e-12);
}

class LabelFiles : public testing::Test {
 protected:
  LabelFiles() : folder_(std::filesystem::path(testing::TempDir()) / fmt::format("labels-{}", ::getpid())) {
    std::filesystem::create_directories(folder_);
  }
  ~LabelFiles() override { std::filesystem::remove_all(folder_); }
  std::string text(const std::string& content) const {
    base::write_file_atomic(folder_ / "labels.txt", content);
    return (folder_ / "labels.txt").string();
  }
  template <class F>
  static std::string refusal(F&& f) {
    try {
      f();
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kBadInput) << error.what();
      return error.what();
    }
    ADD_FAILURE() << "accepted";
    return {};
  }
  static std::vector<Samples> from(const std::vector<std::string>& names) {
    return {{{}, static_cast<int64_t>(names.size()), names}};
  }

  std::filesystem::path folder_;
};

TEST_F(LabelFiles, AreReadInOrderOrByName) {
  EXPECT_THAT(read_labels(text("3\n\n 1\r\n2")).in_order, ElementsAre(3, 1, 2));
  const Labels named = read_labels(text("val/a b.jpg 4\nc.png,\t5\n"));
  EXPECT_THAT(labels_of(named, from({"/x/c.png", "/y/a b.jpg"}), 6, true), ElementsAre(5, 4));
  tensor::write_npy(folder_ / "l.npy", Tensor::of<int32_t>({7, 8}, {2}));
  EXPECT_THAT(read_labels(folder_ / "l.npy").in_order, ElementsAre(7, 8));
  tensor::write_npz(folder_ / "l.npz",
                    {{"other", Tensor::of<float>({1}, {1})}, {"labels", Tensor::of<uint8_t>({0, 255}, {2})}});
  EXPECT_THAT(read_labels(folder_ / "l.npz").in_order, ElementsAre(0, 255));
}

TEST_F(LabelFiles, AreRefusedWithFileAndLine) {
  EXPECT_THAT(refusal([&] { read_labels(text("1\ncat\n")); }), HasSubstr("labels.txt:2: 'cat' is no class"));
  EXPECT_THAT(refusal([&] { read_labels(text("1\n2.5\n")); }), HasSubstr("'2.5' is no class"));
  EXPECT_THAT(refusal([&] { read_labels(text("a.png 1\n2\n")); }), HasSubstr("some lines name a file"));
  EXPECT_THAT(refusal([&] { read_labels(text("a.png 1\nb/a.png 2\n")); }),
              HasSubstr("has the class 1 further up"));
  EXPECT_THAT(refusal([&] { read_labels(text("\n \n")); }), HasSubstr("holds no labels"));
  EXPECT_THAT(refusal([&] { read_labels(text("99999999999999999999\n")); }), HasSubstr("is no class"));
  tensor::write_npy(folder_ / "f.npy", Tensor::of<float>({1, 2}, {2}));
  EXPECT_THAT(refusal([&] { read_labels(folder_ / "f.npy"); }), HasSubstr("one dimension of integers"));
  tensor::write_npz(folder_ / "n.npz", {{"label", Tensor::of<int64_t>({1}, {1})}});
  EXPECT_THAT(refusal([&] { read_labels(folder_ / "n.npz"); }), HasSubstr("no array 'labels'"));
}

TEST_F(LabelFiles, MustBelongToTheSamples) {
  const Labels three = read_labels(text("0\n1\n2\n"));
  EXPECT_THAT(refusal([&] {
                labels_of(three, from({"a", "b", "c", "d.npy[3]"}), 9, true);
              }),
              HasSubstr("holds 3 labels, and the data go on with d.npy[3]"));
  EXPECT_THAT(refusal([&] {
                labels_of(three, from({"a", "b"}), 9, true);
              }),
              HasSubstr("3 labels for 2 samples"));
  EXPECT_THAT(labels_of(three, from({"a", "b"}), 9, false), ElementsAre(0, 1));
  EXPECT_THAT(refusal([&] {
                labels_of(three, from({"a", "b", "c"}), 2, true);
              }),
              HasSubstr("c has the class 2, and the model has 2 classes"));
  EXPECT_THAT(refusal([&] { labels_of(read_labels(text("-1\n")), from({"a"}), 2, true); }),
              HasSubstr("class -1"));
  const Labels named = read_labels(text("a.png 0\n"));
  EXPECT_THAT(refusal([&] { labels_of(named, from({"dir/b.png"}), 2, true); }),
              HasSubstr("no label for dir/b.png"));
}

}  // namespace
}  // namespace hone::quantize
