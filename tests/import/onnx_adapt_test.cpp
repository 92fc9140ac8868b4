// Old forms of operators: each rule of the adapters with values worked out by hand from the specification of
// the opset in question.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cfloat>
#include <cmath>

#include "import/onnx_text.hpp"

namespace hone::importer {
namespace {

using tensor::Shape;
using tensor::Tensor;

struct Row {
  const char* name;
  int opset;
  /// Its only input is `x`.
  const char* text;
  Shape input;
  std::vector<float> values;
  /// Shape of the last output, and the elements of all outputs one after the other.
  Shape shape;
  std::vector<double> expected;
};

class OnnxAdapt : public testing::TestWithParam<Row> {};

TEST_P(OnnxAdapt, MeansWhatItsOpsetSaid) {
  const Row& row = GetParam();
  const auto outputs = run_text(row.opset, row.text, {Tensor::of<float>(row.values, row.input)});
  EXPECT_EQ(outputs.back().shape(), row.shape);
  std::vector<double> actual;
  for (const Tensor& output : outputs) {
    const auto elements = output.to_double();
    actual.insert(actual.end(), elements.begin(), elements.end());
  }
  ASSERT_EQ(actual.size(), row.expected.size());
  for (size_t i = 0; i < actual.size(); ++i) {
    // Values of a few units, after at most four roundings to float32.
    EXPECT_NEAR(actual[i], row.expected[i], 4 * FLT_EPSILON * std::max(1.0, std::abs(row.expected[i])))
        << "element " << i;
  }
}

std::string row_name(const testing::TestParamInfo<Row>& info) { return info.param.name; }

INSTANTIATE_TEST_SUITE_P(
    Shapes, OnnxAdapt,
    testing::Values(
        Row{"squeeze",
            11,
            "g (float[1,2,1] x) => (float[a,b] y) { y = Squeeze <axes = [0]> (x) }",
            {1, 2, 1},
            {1, 2},
            {2, 1},
            {1, 2}},
        Row{"unsqueeze",
            11,
            "g (float[2] x) => (float[a,b,c] y) { y = Unsqueeze <axes = [0, 2]> (x) }",
            {2},
            {1, 2},
            {1, 2, 1},
            {1, 2}},
        Row{"split_sizes",
            11,
            "g (float[3] x) => (float[a] y, float[b] z) { y, z = Split <split = [1, 2]> (x) }",
            {3},
            {1, 2, 3},
            {2},
            {1, 2, 3}},
        Row{"split_equally",
            13,
            "g (float[4] x) => (float[a] y, float[b] z) { y, z = Split (x) }",
            {4},
            {1, 2, 3, 4},
            {2},
            {1, 2, 3, 4}},
        Row{"slice",
            9,
            "g (float[2,4] x) => (float[a,b] y) { y = Slice <starts = [1], ends = [3], axes = [1]> (x) }",
            {2, 4},
            {1, 2, 3, 4, 5, 6, 7, 8},
            {2, 2},
            {2, 3, 6, 7}},
        Row{"slice_without_axes",
            9,
            "g (float[2,2] x) => (float[a,b] y) { y = Slice <starts = [1], ends = [-1000]> (x) }",
            {2, 2},
            {1, 2, 3, 4},
            {0, 2},
            {}},
        Row{"pad",
            10,
            "g (float[2] x) => (float[a] y) { y = Pad <pads = [1, 0], value = 7.0> (x) }",
            {2},
            {1, 2},
            {3},
            {7, 1, 2}},
        Row{"pad_reflect",
            10,
            "g (float[2] x) => (float[a] y) { y = Pad <pads = [1, 1], mode = \"reflect\"> (x) }",
            {2},
            {1, 2},
            {4},
            {2, 1, 2, 1}},
        Row{"scatter",
            9,
            "g (float[3] x) => (float[3] y) { i = Constant <value = int64[1] {1}> () "
            "u = Constant <value = float[1] {9}> () y = Scatter <axis = 0> (x, i, u) }",
            {3},
            {1, 2, 3},
            {3},
            {1, 9, 3}}),
    row_name);

/// A reduction over axis 1 of [[1, 2], [3, 4]], whose axes became an input in `below`.
Row reduction(const char* name, const char* text, int opset, std::vector<double> expected) {
  return {name, opset, text, {2, 2}, {1, 2, 3, 4}, {2}, std::move(expected)};
}

#define HONE_REDUCTION(op) "g (float[2,2] x) => (float[a] y) { y = " op " <axes = [1], keepdims = 0> (x) }"

INSTANTIATE_TEST_SUITE_P(
    Reductions, OnnxAdapt,
    testing::Values(reduction("l1", HONE_REDUCTION("ReduceL1"), 13, {3, 7}),
                    reduction("l2", HONE_REDUCTION("ReduceL2"), 13, {std::sqrt(5.0), 5}),
                    reduction("log_sum", HONE_REDUCTION("ReduceLogSum"), 13, {std::log(3.0), std::log(7.0)}),
                    reduction("log_sum_exp", HONE_REDUCTION("ReduceLogSumExp"), 13,
                              {2 + std::log1p(std::exp(-1.0)), 4 + std::log1p(std::exp(-1.0))}),
                    reduction("max", HONE_REDUCTION("ReduceMax"), 13, {2, 4}),
                    reduction("mean", HONE_REDUCTION("ReduceMean"), 13, {1.5, 3.5}),
                    reduction("min", HONE_REDUCTION("ReduceMin"), 13, {1, 3}),
                    reduction("prod", HONE_REDUCTION("ReduceProd"), 13, {2, 12}),
                    reduction("sum", HONE_REDUCTION("ReduceSum"), 11, {3, 7}),
                    reduction("sum_square", HONE_REDUCTION("ReduceSumSquare"), 13, {5, 25})),
    row_name);

#undef HONE_REDUCTION

INSTANTIATE_TEST_SUITE_P(Rows, OnnxAdapt,
                         testing::Values(
                             // Opset 11 flattens to one row of four, opset 13 works along the axis alone.
                             Row{"softmax",
                                 11,
                                 "g (float[1,2,2] x) => (float[1,2,2] y) { y = Softmax (x) }",
                                 {1, 2, 2},
                                 {0, 0, 0, 0},
                                 {1, 2, 2},
                                 {0.25, 0.25, 0.25, 0.25}},
                             Row{"softmax_of_axis_2",
                                 11,
                                 "g (float[1,2,2] x) => (float[1,2,2] y) { y = Softmax <axis = 2> (x) }",
                                 {1, 2, 2},
                                 {0, 0, 0, 0},
                                 {1, 2, 2},
                                 {0.5, 0.5, 0.5, 0.5}},
                             Row{"softmax_of_axis_0",
                                 11,
                                 "g (float[2,2] x) => (float[2,2] y) { y = Softmax <axis = 0> (x) }",
                                 {2, 2},
                                 {0, 0, 0, 0},
                                 {2, 2},
                                 {0.25, 0.25, 0.25, 0.25}},
                             Row{"log_softmax",
                                 11,
                                 "g (float[1,2,2] x) => (float[1,2,2] y) { y = LogSoftmax (x) }",
                                 {1, 2, 2},
                                 {0, 0, 0, 0},
                                 {1, 2, 2},
                                 {-std::log(4.0), -std::log(4.0), -std::log(4.0), -std::log(4.0)}},
                             Row{"hardmax",
                                 11,
                                 "g (float[1,2,2] x) => (float[1,2,2] y) { y = Hardmax (x) }",
                                 {1, 2, 2},
                                 {0, 3, 1, 2},
                                 {1, 2, 2},
                                 {0, 1, 0, 0}},
                             Row{"top_k",
                                 9,
                                 "g (float[4] x) => (float[a] y, int64[b] i) { y, i = TopK <k = 2> (x) }",
                                 {4},
                                 {1, 4, 2, 3},
                                 {2},
                                 {4, 3, 1, 3}},
                             Row{"dft",
                                 17,
                                 "g (float[1,2,1] x) => (float[1,2,2] y) { y = DFT <axis = 1> (x) }",
                                 {1, 2, 1},
                                 {1, 2},
                                 {1, 2, 2},
                                 {3, 0, -1, 0}}),
                         row_name);

INSTANTIATE_TEST_SUITE_P(
    Images, OnnxAdapt,
    testing::Values(
        Row{"upsample_7",
            7,
            "g (float[1,1,1,2] x) => (float[a,b,c,d] y) { y = Upsample <scales = [1.0, 1.0, 1.0, 2.0]> (x) }",
            {1, 1, 1, 2},
            {1, 2},
            {1, 1, 1, 4},
            {1, 1, 2, 2}},
        Row{"upsample_9",
            9,
            "g (float[1,1,1,2] x) => (float[a,b,c,d] y) { s = Constant <value = float[4] {1, 1, 1, 2}> () "
            "y = Upsample <mode = \"linear\"> (x, s) }",
            {1, 1, 1, 2},
            {1, 3},
            {1, 1, 1, 4},
            {1, 2, 3, 3}},
        Row{"resize_10",
            10,
            "g (float[1,1,1,2] x) => (float[a,b,c,d] y) { s = Constant <value = float[4] {1, 1, 1, 2}> () "
            "y = Resize <mode = \"linear\"> (x, s) }",
            {1, 1, 1, 2},
            {1, 3},
            {1, 1, 1, 4},
            {1, 2, 3, 3}},
        Row{"resize_11_without_scales",
            11,
            "g (float[1,1,1,2] x) => (float[a,b,c,d] y) { e = Constant <value = float[0] {}> () "
            "n = Constant <value = int64[4] {1, 1, 1, 4}> () "
            "y = Resize <coordinate_transformation_mode = \"asymmetric\", nearest_mode = \"floor\"> (x, e, "
            "e, n) }",
            {1, 1, 1, 2},
            {1, 2},
            {1, 1, 1, 4},
            {1, 1, 2, 2}},
        // (x + 0.5) / 0.5 is 1 and 3.
        Row{"tensorflow_nearest_floor",
            11,
            "g (float[1,1,1,4] x) => (float[a,b,c,d] y) { e = Constant <value = float[0] {}> () "
            "s = Constant <value = float[4] {1, 1, 1, 0.5}> () "
            "y = Resize <coordinate_transformation_mode = \"tf_half_pixel_for_nn\", nearest_mode = "
            "\"floor\"> "
            "(x, e, s) }",
            {1, 1, 1, 4},
            {1, 2, 3, 4},
            {1, 1, 1, 2},
            {2, 4}},
        // (x + 0.5) / 2 is 0.25, 0.75, 1.25, 1.75, 2.25, 2.75, 3.25, 3.75.
        Row{"tensorflow_nearest_round",
            11,
            "g (float[1,1,1,4] x) => (float[a,b,c,d] y) { e = Constant <value = float[0] {}> () "
            "s = Constant <value = float[4] {1, 1, 1, 2}> () "
            "y = Resize <coordinate_transformation_mode = \"tf_half_pixel_for_nn\"> (x, e, s) }",
            {1, 1, 1, 4},
            {1, 2, 3, 4},
            {1, 1, 1, 8},
            {1, 2, 2, 3, 3, 4, 4, 4}},
        // One sample in the middle of the region, which lies on pixel (1, 1); opset 16 would shift it.
        Row{"roi_align",
            10,
            "g (float[1,1,2,2] x) => (float[a,b,c,d] y) { r = Constant <value = float[1,4] {0, 0, 2, 2}> () "
            "b = Constant <value = int64[1] {0}> () y = RoiAlign <sampling_ratio = 1> (x, r, b) }",
            {1, 1, 2, 2},
            {1, 2, 3, 4},
            {1, 1, 1, 1},
            {4}},
        Row{"grid_sample",
            16,
            "g (float[1,1,1,2] x) => (float[a,b,c,d] y) { t = Constant <value = float[1,1,1,2] {0, 0}> () "
            "y = GridSample <mode = \"bilinear\", align_corners = 1> (x, t) }",
            {1, 1, 1, 2},
            {1, 3},
            {1, 1, 1, 1},
            {2}}),
    row_name);

INSTANTIATE_TEST_SUITE_P(
    Layers, OnnxAdapt,
    testing::Values(
        Row{"clip",
            7,
            "g (float[3] x) => (float[3] y) { y = Clip <min = -1.0, max = 1.0> (x) }",
            {3},
            {-2, 0, 2},
            {3},
            {-1, 0, 1}},
        Row{"clip_without_min",
            10,
            "g (float[3] x) => (float[3] y) { y = Clip <max = 1.0> (x) }",
            {3},
            {-2, 0, 2},
            {3},
            {-2, 0, 1}},
        Row{"dropout",
            7,
            "g (float[2] x) => (float[2] y, float[2] m) { y, m = Dropout <ratio = 0.5> (x) }",
            {2},
            {1, 2},
            {2},
            {1, 2, 1, 1}},
        Row{"batch_norm",
            9,
            "g (float[1,1,2] x) => (float[1,1,2] y) { s = Constant <value = float[1] {2}> () "
            "b = Constant <value = float[1] {1}> () m = Constant <value = float[1] {1}> () "
            "v = Constant <value = float[1] {4}> () y = BatchNormalization <epsilon = 0.0> (x, s, b, m, v) }",
            {1, 1, 2},
            {1, 3},
            {1, 1, 2},
            {1, 3}},
        Row{"batch_norm_of_elements",
            7,
            "g (float[2,1,2] x) => (float[2,1,2] y) { s = Constant <value = float[1,2] {1, 2}> () "
            "b = Constant <value = float[1,2] {0, 1}> () m = Constant <value = float[1,2] {1, 2}> () "
            "v = Constant <value = float[1,2] {1, 4}> () "
            "y = BatchNormalization <epsilon = 0.0, spatial = 0> (x, s, b, m, v) }",
            {2, 1, 2},
            {1, 2, 3, 4},
            {2, 1, 2},
            {0, 1, 2, 3}},
        // Groups {1, 3} and {2, 6}: both -1 and 1 once normalized; one scale and bias a group.
        Row{"group_norm",
            18,
            "g (float[1,4,1] x) => (float[1,4,1] y) { s = Constant <value = float[2] {2, 3}> () "
            "b = Constant <value = float[2] {0, 10}> () "
            "y = GroupNormalization <num_groups = 2, epsilon = 0.0> (x, s, b) }",
            {1, 4, 1},
            {1, 3, 2, 6},
            {1, 4, 1},
            {-2, 2, 7, 13}}),
    row_name);

/// Two sequences of up to three numbers, their running sums, and the sums at the end of each.
std::string scan_text(const std::string& lengths, const std::string& attributes) {
  return "g (float[2,3,1] x) => (float[2,1] last, float[2,n,1] sums) { lengths = Constant <value = int64[2] "
         "{" +
         lengths +
         "}> () start = Constant <value = float[2,1] {0, 100}> () last, sums = Scan <num_scan_inputs = 1" +
         attributes +
         ", body = b (float[1] before, float[1] element) => (float[1] after, float[1] shown) "
         "{ after = Add (before, element) shown = Identity (after) }> (lengths, start, x) }";
}

TEST(OnnxAdaptScan, OfOpset8LooksAtTheFirstElementsOfEachSequence) {
  const Tensor x = Tensor::of<float>({1, 2, 3, 4, 5, 6}, {2, 3, 1});
  const auto run = [&](const std::string& lengths, const std::string& attributes) {
    const auto outputs = run_text(8, scan_text(lengths, attributes), {x});
    EXPECT_EQ(outputs[0].shape(), (Shape{2, 1}));
    EXPECT_EQ(outputs[1].shape(), (Shape{2, 3, 1}));
    std::vector<double> all = outputs[0].to_double();
    for (const double element : outputs[1].to_double()) all.push_back(element);
    return all;
  };
  using testing::ElementsAre;
  EXPECT_THAT(run("3, 3", ""), ElementsAre(6, 115, 1, 3, 6, 104, 109, 115));
  EXPECT_THAT(run("2, 3", ""), ElementsAre(3, 115, 1, 3, 0, 104, 109, 115));
  EXPECT_THAT(run("2, 3", ", directions = [1]"), ElementsAre(3, 115, 2, 3, 0, 106, 111, 115));
  EXPECT_THAT(run("0, 1", ""), ElementsAre(0, 104, 0, 0, 0, 104, 0, 0));
}

TEST(OnnxAdaptScan, OfOpset8RefusesLengthsThatNoSequenceHas) {
  const Tensor x = Tensor::of<float>({1, 2, 3, 4, 5, 6}, {2, 3, 1});
  for (const char* lengths : {"4, 3", "-1, 3", "9223372036854775807, 3"}) {
    try {
      run_text(8, scan_text(lengths, ""), {x});
      ADD_FAILURE() << lengths;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kBadInput);
      EXPECT_THAT(error.what(), testing::HasSubstr("sequence_lens1' (Split): input 'split'"));
    }
  }
}

TEST(OnnxAdaptRefusals, NameTheField) {
  const char* text =
      "g (float[1,1,1,4] x) => (float[a,b,c,d] y) { e = Constant <value = float[0] {}> () "
      "s = Constant <value = float[4] {1, 1, 1, 2}> () "
      "y = Resize <coordinate_transformation_mode = \"tf_half_pixel_for_nn\", mode = \"linear\"> (x, e, s) }";
  EXPECT_THAT(refusal(model_bytes(11, text)),
              testing::HasSubstr("tf_half_pixel_for_nn is supported with mode"));
}

}  // namespace
}  // namespace hone::importer
