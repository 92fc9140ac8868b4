// Training mode of BatchNormalization, and inputs that leave nothing to normalise.
#include "reference/single_node.hpp"

namespace hone::reference {
namespace {

using tensor::Tensor;

std::vector<Tensor> batch_normalization(const Tensor& x, bool training, size_t outputs) {
  const auto node =
      node_of("BatchNormalization",
              {{"epsilon", 4.0f}, {"momentum", 0.5f}, {"training_mode", int64_t{training ? 1 : 0}}});
  const auto one = [](float value) { return Tensor::of<float>({value}, {1}); };
  return run_single_node(node, {x, one(6), one(1), one(10), one(12)}, outputs);
}

/// 1, 3, 5, 7 have mean 4 and variance 5, the running statistics are 10 and 12.
TEST(Normalization, TrainingUsesTheBatchAndBlendsTheRunningStatistics) {
  const auto y = batch_normalization(ramp({2, 1, 2}, 1, 2), true, 3);
  EXPECT_EQ(y[0].to_double(), (std::vector<double>{-5, -1, 3, 7}));
  EXPECT_EQ(y[1].to_double(), (std::vector<double>{7}));
  EXPECT_EQ(y[2].to_double(), (std::vector<double>{8.5}));
}

TEST(Normalization, InferenceUsesTheRunningStatistics) {
  const auto y = batch_normalization(ramp({2, 1, 2}, 2, 4), false, 1);
  EXPECT_EQ(y[0].to_double(), (std::vector<double>{-11, -5, 1, 7}));
  EXPECT_NE(
      refusal(node_of("BatchNormalization"), {ramp({1, 1}), ramp({1}), ramp({1}), ramp({1}), ramp({1})}, 3),
      "");
}

TEST(Normalization, EmptyInputsStayEmpty) {
  const auto y = run_single_node(node_of("LayerNormalization"), {ramp({0, 3}), ramp({3})});
  EXPECT_EQ(y[0].shape(), (tensor::Shape{0, 3}));
  EXPECT_EQ(batch_normalization(ramp({0, 1, 2}), false, 1)[0].size(), 0);
}

TEST(Normalization, ZerosHaveNoDirection) {
  const auto y = run_single_node(node_of("LpNormalization"), {ramp({2, 2}, 0, 0)});
  EXPECT_EQ(y[0].to_double(), (std::vector<double>{0, 0, 0, 0}));
}

}  // namespace
}  // namespace hone::reference
