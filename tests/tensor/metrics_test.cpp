// Error metrics: the formulas on small numbers, and what NaN and infinity make
// of them.
#include "tensor/metrics.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace hone::tensor {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

Tensor row(const std::vector<float>& values) {
  return Tensor::of(values, {1, static_cast<int64_t>(values.size())});
}

TEST(Metrics, FollowTheirFormulas) {
  const Tensor actual = row({3.0f, 4.5f});
  const Tensor reference = row({3.0f, 4.0f});
  EXPECT_DOUBLE_EQ(relative_l2(actual, reference), 0.5 / 5.0);
  EXPECT_DOUBLE_EQ(max_abs(actual, reference), 0.5);
  EXPECT_DOUBLE_EQ(cosine(actual, reference), 27.0 / (5.0 * std::sqrt(29.25)));
}

TEST(Metrics, ZeroReference) {
  EXPECT_EQ(relative_l2(row({0, 0}), row({0, 0})), 0);
  EXPECT_EQ(relative_l2(row({0, 1}), row({0, 0})), kInf);
  EXPECT_EQ(cosine(row({0, 0}), row({0, 0})), 1);
  EXPECT_EQ(cosine(row({0, 1}), row({0, 0})), 0);
}

TEST(Metrics, NonFiniteOnBothSidesIsEqual) {
  const Tensor tensor = row({kNan, kInf, -kInf, 2});
  EXPECT_EQ(relative_l2(tensor, tensor), 0);
  EXPECT_EQ(max_abs(tensor, tensor), 0);
  EXPECT_EQ(cosine(tensor, tensor), 1);
}

TEST(Metrics, NonFiniteOnOneSideIsInfinitelyWrong) {
  for (const float bad : {kNan, kInf}) {
    EXPECT_EQ(relative_l2(row({1, bad}), row({1, 2})), kInf);
    EXPECT_EQ(max_abs(row({1, 2}), row({1, bad})), kInf);
    EXPECT_EQ(cosine(row({1, bad}), row({1, -bad})), bad == kInf ? 0 : 1);
  }
}

TEST(Metrics, Top1CountsRows) {
  const Tensor actual = Tensor::of<float>({1, 2, 5, 4, kNan, 0}, {3, 2});
  const Tensor reference = Tensor::of<float>({1, 2, 4, 5, 0, 1}, {3, 2});
  EXPECT_DOUBLE_EQ(top1_agreement(actual, reference), 2.0 / 3.0);
}

TEST(Metrics, ShapesMustAgree) {
  EXPECT_THROW(relative_l2(row({1}), row({1, 2})), Error);
  EXPECT_THROW(top1_agreement(row({1}), row({1, 2})), Error);
}

}  // namespace
}  // namespace hone::tensor
