// From data to a quantized graph: observation, choice of ranges, resumption, caches.
#include "quantize/quantize.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>

#include "base/file.hpp"
#include "quantize/float_graph.hpp"
#include "quantize/suffix.hpp"
#include "quantize/tensorrt_cache.hpp"
#include "support/graph_builder.hpp"
#include "tensor/npy.hpp"

namespace hone::quantize {
namespace {

namespace fs = std::filesystem;
using graph::Graph;
using test::Dim;
using test::GraphBuilder;
using test::Tensor;
using test::ValueId;
using testing::AllOf;
using testing::HasSubstr;

/// Two convolutions with a residual addition and a classifier.
Graph network(uint32_t seed = 0, tensor::DType result = tensor::DType::kFloat32) {
  GraphBuilder b;
  for (uint32_t i = 0; i < seed; ++i) b.random({1});
  const ValueId x = b.input("x", {Dim::symbol("n"), Dim(3), Dim(8), Dim(8)});
  const ValueId a = b.node("Relu", {b.batch_norm(b.conv(x, 3, 8), 8)});
  const ValueId c = b.node("Relu", {b.node("Add", {b.conv(a, 8, 8), a})});
  const ValueId mean = b.node("Flatten", {b.node("GlobalAveragePool", {c})});
  const ValueId scores = b.node("Gemm", {mean, b.random({8, 5}), b.random({5})});
  if (result == tensor::DType::kFloat32) return b.finish({scores});
  return b.finish({b.node("Cast", {scores}, {{"to", static_cast<int64_t>(result)}})});
}

class Quantizing : public testing::Test {
 protected:
  Quantizing() : folder_(fs::path(testing::TempDir()) / fmt::format("quantizing-{}", ::getpid())) {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    tensor::write_npy(folder_ / "data.npy", test::random_tensor({6, 3, 8, 8}, 3, -2, 2));
    data_.sources = {(folder_ / "data.npy").string()};
  }
  ~Quantizing() override { fs::remove_all(folder_); }

  Calibration calibrated(const Subject& subject) const {
    return calibrate(subject, data_, {}, make_reference_runner, options_);
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

  fs::path folder_;
  DataOptions data_;
  QuantizeOptions options_;
};

TEST_F(Quantizing, ObservesWhatTheModelComputes) {
  const Subject subject = prepare(network());
  const Calibration calibration = calibrated(subject);
  EXPECT_EQ(calibration.samples, 6);
  EXPECT_TRUE(calibration.finished);
  const Tensor input = tensor::read_npy(folder_ / "data.npy");
  ASSERT_EQ(calibration.tensors.front().name, "x");
  const auto values = input.values<float>();
  EXPECT_EQ(calibration.tensors.front().histogram.max(), *std::max_element(values.begin(), values.end()));
  EXPECT_EQ(calibration.tensors.front().histogram.count(), input.size());
  double sum = 0;
  for (size_t n = 0; n < 6; ++n) {
    for (size_t i = 0; i < 64; ++i) sum += static_cast<double>(values[n * 192 + 64 + i]);
  }
  EXPECT_NEAR(calibration.tensors.front().channel_means()[1], sum / 384, 1e-12);
  for (const TensorStatistics& tensor : calibration.tensors) EXPECT_GT(tensor.histogram.count(), 0);
}

TEST_F(Quantizing, IsCloseToTheOriginalByEveryCalibratorAndTarget) {
  const Subject subject = prepare(network());
  const Calibration calibration = calibrated(subject);
  for (const Target target : {Target::kPortable, Target::kCpu, Target::kCuda, Target::kTensorrt}) {
    for (int i = -1; i < 4; ++i) {
      options_.target = target;
      options_.calibrator.reset();
      if (i >= 0) options_.calibrator = kCalibrators[i];
      const Quantized result =
          quantize::quantize(subject, calibration, {}, &data_, make_reference_runner, options_);
      ASSERT_TRUE(result.accuracy);
      // A step of 1/127 of the range, a few percent of what the outputs vary by.
      EXPECT_LT(result.accuracy->relative_error, 0.05) << static_cast<int>(target) << " " << i;
      // Its channels are too few for a GPU.
      EXPECT_EQ(result.placement.weighted.empty(), target == Target::kCuda);
      EXPECT_EQ(result.accuracy->relative_error > 1e-5, target != Target::kCuda);
      EXPECT_GT(result.accuracy->cosine, 0.998);
      EXPECT_EQ(result.errors.empty(), i >= 0);
    }
  }
}

TEST_F(Quantizing, MeasuresOutputsOfOtherFloats) {
  for (const tensor::DType dtype : {tensor::DType::kFloat16, tensor::DType::kFloat64}) {
    const Subject subject = prepare(network(0, dtype));
    const Quantized result =
        quantize::quantize(subject, calibrated(subject), {}, &data_, make_reference_runner, options_);
    ASSERT_TRUE(result.accuracy);
    EXPECT_GT(result.accuracy->relative_error, 1e-4);
    EXPECT_LT(result.accuracy->relative_error, 0.05);
    EXPECT_TRUE(result.accuracy->top1);
    for (const WholeError& error : result.errors) EXPECT_GT(error.error, 1e-4) << error.name;
  }
}

TEST_F(Quantizing, AutoIsNoWorseThanAnyCalibratorOnItsSamples) {
  const Subject subject = prepare(network());
  const Calibration calibration = calibrated(subject);
  options_.selection_samples = options_.judge.samples = 6;
  const Quantized automatic =
      quantize::quantize(subject, calibration, {}, &data_, make_reference_runner, options_);
  ASSERT_EQ(automatic.errors.size(), 5u);
  EXPECT_NEAR(automatic.accuracy->relative_error, automatic.errors.front().error, 1e-6);
  for (const Calibrator calibrator : kCalibrators) {
    options_.calibrator = calibrator;
    const Quantized one =
        quantize::quantize(subject, calibration, {}, &data_, make_reference_runner, options_);
    EXPECT_LE(automatic.accuracy->relative_error, one.accuracy->relative_error * (1 + 1e-6))
        << calibrator_name(calibrator);
  }
}

TEST_F(Quantizing, AutoKeepsAnOutlierThatMatters) {
  // The largest of a thousand values decides the output, so clipping it, as entropy does, is the worst
  // choice.
  GraphBuilder b;
  const ValueId x = b.input("x", {Dim::symbol("n"), Dim(1000)});
  std::vector<float> weights(1000, 0.001f);
  weights[7] = 1;
  const ValueId out = b.node("MatMul", {x, b.constant(Tensor::of<float>(weights, {1000, 1}))});
  const Subject subject = prepare(b.finish({out}));
  Tensor values = test::random_tensor({4, 1000}, 1);
  for (size_t n = 0; n < 4; ++n) values.mutable_values<float>()[n * 1000 + 7] = 50;
  tensor::write_npy(folder_ / "outlier.npy", values);
  data_.sources = {(folder_ / "outlier.npy").string()};
  const Quantized result =
      quantize::quantize(subject, calibrated(subject), {}, &data_, make_reference_runner, options_);
  EXPECT_EQ(result.ranges.at(0).range.high, 50);
  EXPECT_LT(result.accuracy->relative_error, 0.01);
}

TEST_F(Quantizing, GoesOnWhereItWasInterrupted) {
  const Subject subject = prepare(network());
  const fs::path cache = folder_ / "out.calib.json";
  system::StopFlag stop = false;
  QuantizeOptions options = options_;
  int64_t seen = 0;
  options.stop = &stop;
  options.progress = [&](const base::Progress&) { stop = ++seen == 2; };
  EXPECT_THROW(calibrate(subject, data_, cache, make_reference_runner, options), system::Interrupted);
  const CachedCalibration half = read_calibration(cache);
  EXPECT_EQ(half.calibration.samples, 2);
  EXPECT_FALSE(half.calibration.finished);
  EXPECT_THAT(refusal([&] { calibration_from(cache, subject); }), HasSubstr("unfinished after 2 samples"));
  const Calibration whole = calibrate(subject, data_, cache, make_reference_runner, options_);
  const Calibration fresh = calibrated(subject);
  EXPECT_EQ(whole.samples, 6);
  for (size_t i = 0; i < fresh.tensors.size(); ++i) {
    EXPECT_EQ(whole.tensors[i].histogram.magnitudes(), fresh.tensors[i].histogram.magnitudes());
    EXPECT_EQ(whole.tensors[i].channel_sums, fresh.tensors[i].channel_sums);
  }
  DataOptions other = data_;
  other.preprocessing.crop = 3;
  EXPECT_THAT(refusal([&] { calibrate(subject, other, cache, make_reference_runner, options_); }),
              HasSubstr("remove it"));
}

TEST_F(Quantizing, ReadsItsCacheAgain) {
  const Subject subject = prepare(network());
  const fs::path cache = folder_ / "c.json";
  CachedCalibration cached{calibrated(subject), {}};
  const Quantized first =
      quantize::quantize(subject, cached.calibration, {}, &data_, make_reference_runner, options_);
  cached.ranges = first.ranges;
  write_calibration(cache, cached);
  const CachedCalibration again = calibration_from(cache, subject);
  const Quantized second =
      quantize::quantize(subject, again.calibration, again.ranges, nullptr, make_reference_runner, options_);
  ASSERT_EQ(second.scales.size(), first.scales.size());
  for (size_t i = 0; i < first.scales.size(); ++i)
    EXPECT_EQ(second.scales[i].scale.scale, first.scales[i].scale.scale);
  EXPECT_FALSE(second.accuracy);
  EXPECT_THAT(refusal([&] { calibration_from(cache, prepare(network(1))); }), HasSubstr("another model"));
}

TEST_F(Quantizing, RefusesDamagedCaches) {
  const Subject subject = prepare(network());
  const fs::path cache = folder_ / "c.json";
  write_calibration(cache, {calibrated(subject), {}});
  const std::string good = base::read_file(cache);
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    const size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    text.replace(at, from.size(), to);
    base::write_file_atomic(cache, text);
    return refusal([&] { read_calibration(cache); });
  };
  EXPECT_THAT(with("\"version\":1", "\"version\":7"), AllOf(HasSubstr("c.json"), HasSubstr("version 7")));
  EXPECT_THAT(with("\"samples\":6", "\"samples\":\"many\""), HasSubstr("samples"));
  EXPECT_THAT(with("\"exponent\":", "\"exponent\":999,\"was\":"), HasSubstr("exponent"));
  EXPECT_THAT(with("\"bins\":[", "\"bins\":[-1],\"were\":["), HasSubstr("count -1"));
  EXPECT_THAT(with("hone calibration", "other"), HasSubstr("no calibration cache"));
  EXPECT_THAT(with("{", "["), HasSubstr("no calibration cache"));
  EXPECT_THAT(with("\"min\":", "\"min\":1e300,\"was\":"), HasSubstr("range"));
}

TEST_F(Quantizing, NamesFileAndTensorOfValuesThatAreNotFinite) {
  GraphBuilder b;
  const ValueId x = b.input("x", {Dim::symbol("n"), Dim(2)});
  const ValueId log = b.node("Log", {x});
  const Subject subject = prepare(b.finish({b.node("MatMul", {log, b.random({2, 3})})}));
  tensor::write_npy(folder_ / "bad.npy", Tensor::of<float>({1, 2, 0, 1}, {2, 2}));
  data_.sources = {(folder_ / "bad.npy").string()};
  EXPECT_THAT(refusal([&] { calibrated(subject); }),
              AllOf(HasSubstr("bad.npy[1]"), HasSubstr(subject.graph.value(log).name)));
}

TEST_F(Quantizing, RefusesWhatCannotBeQuantized) {
  GraphBuilder none;
  EXPECT_THAT(refusal([&] { prepare(none.finish({none.node("Relu", {none.input("x", {Dim(2)})})})); }),
              HasSubstr("no convolution or matrix product"));
  const Subject subject = prepare(network());
  const Quantized result =
      quantize::quantize(subject, calibrated(subject), {}, &data_, make_reference_runner, options_);
  EXPECT_THAT(refusal([&] { prepare(result.graph); }), HasSubstr("quantized already"));
}

TEST_F(Quantizing, WritesAndReadsTensorrtsCache) {
  const Subject subject = prepare(network());
  options_.every_tensor = true;
  options_.calibrator = Calibrator::kMinmax;
  const Calibration calibration = calibrated(subject);
  const Quantized first =
      quantize::quantize(subject, calibration, {}, &data_, make_reference_runner, options_);
  const fs::path cache = folder_ / "trt.cache";
  write_for_tensorrt(cache, calibration, first.ranges, 8601);
  const TensorrtCache read = read_tensorrt_cache(cache);
  EXPECT_EQ(read.header, "TRT-8601-MinMaxCalibration");
  // Every value of the model that is not constant, those that folding removes included.
  size_t values = subject.model.inputs.size();
  for (const graph::Node& node : subject.model.nodes) values += node.outputs.size();
  EXPECT_EQ(read.scales.size(), values);
  const CachedCalibration back = calibration_from(cache, subject);
  const Quantized second =
      quantize::quantize(subject, back.calibration, back.ranges, nullptr, make_reference_runner, options_);
  for (size_t i = 0; i < second.scales.size(); ++i)
    EXPECT_FLOAT_EQ(second.scales[i].scale.scale, first.scales[i].scale.scale);
  write_tensorrt_cache(cache, {"TRT-8601-EntropyCalibration2", {{"other", 1.0f}}});
  EXPECT_THAT(refusal([&] { calibration_from(cache, subject); }), HasSubstr("no scale for tensor 'x'"));
}

TEST_F(Quantizing, SaysWhetherRangesSettled) {
  Calibration calibration;
  calibration.samples = 100;
  TensorStatistics settled;
  settled.name = "a";
  settled.histogram.add(std::vector<float>{4});
  settled.growth = {{1, 2}, {50, 4}};
  TensorStatistics growing;
  growing.name = "b";
  growing.histogram.add(std::vector<float>{4});
  growing.growth = {{1, 3}, {80, 4}};
  calibration.tensors = {settled};
  EXPECT_TRUE(convergence_of(calibration).settled());
  calibration.tensors = {settled, growing};
  const Convergence found = convergence_of(calibration);
  EXPECT_FALSE(found.settled());
  EXPECT_EQ(found.tensor, "b");
  EXPECT_EQ(found.most, 0.25);
}

TEST(Suffix, ComputesTheOutputsFromTheCut) {
  const Graph graph = float_graph(network());
  const Placement placement = place(graph);
  const Tensor input = test::random_tensor({1, 3, 8, 8}, 5);
  for (const QuantizedValue& value : placement.values) {
    const Suffix suffix = suffix_of(graph, value.value);
    Graph all = graph;
    all.outputs = suffix.inputs;
    const auto inputs = make_reference_runner(all, {})->run(std::vector<Tensor>{input});
    const auto found = make_reference_runner(suffix.graph, {})->run(inputs);
    const auto expected = make_reference_runner(graph, {})->run(std::vector<Tensor>{input});
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].to_double(), expected[suffix.outputs[0]].to_double());
  }
}

TEST(Fingerprint, TellsModelsApart) {
  EXPECT_EQ(fingerprint_of(network()), fingerprint_of(network()));
  EXPECT_NE(fingerprint_of(network()), fingerprint_of(network(1)));
}

}  // namespace
}  // namespace hone::quantize
