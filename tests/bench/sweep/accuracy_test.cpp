// Which outputs no run of a model has, and what a file that declares too much does not make wrong.
#include "bench/sweep/accuracy.hpp"

#include <gtest/gtest.h>

namespace hone::bench {
namespace {

using graph::Dim;
using tensor::Shape;
using tensor::Tensor;

std::string fault(const graph::Dims& declared, const Shape& reference, const Shape& shape, int64_t batch) {
  ModelInfo model;
  model.dynamic_batch = true;
  model.batch_symbol = "n";
  model.outputs = {declared};
  return impossible_outputs(model, {Tensor(tensor::DType::kFloat32, reference)},
                            {{"y", tensor::DType::kFloat32, shape, ""}}, batch);
}

TEST(ImpossibleOutputs, AreOfAnotherNumberRankOrKnownLength) {
  const graph::Dims declared = {Dim::symbol("n"), 10};
  EXPECT_EQ(fault(declared, {1, 10}, {1, 10}, 1), "");
  EXPECT_EQ(fault(declared, {1, 10}, {4, 10}, 4), "");
  EXPECT_EQ(fault(declared, {1, 10}, {1, 5}, 1), "output 0 has shape 1x5, the model's has 1x10");
  EXPECT_EQ(fault(declared, {1, 10}, {1, 10}, 2), "output 0 has shape 1x10, the model's has 2x10");
  EXPECT_EQ(fault(declared, {1, 10}, {20}, 2), "output 0 has shape 20, the model's has 2x10");
  EXPECT_EQ(impossible_outputs({}, {Tensor(tensor::DType::kFloat32, {1})}, {}, 1),
            "there are 0 outputs, the model has 1");
}

TEST(ImpossibleOutputs, AreNotThoseThatAFileDeclaresOtherwise) {
  const Dim n = Dim::symbol("n");
  EXPECT_EQ(fault({1, 128}, {1, 128}, {8, 128}, 8), "") << "its inputs alone were opened";
  EXPECT_EQ(fault({n, 4}, {4, 4}, {32, 4}, 8), "") << "a reshape of each into four";
  EXPECT_EQ(fault({2, n}, {2, 16}, {2, 17}, 1), "") << "as many as values are";
  EXPECT_EQ(fault({n, 16}, {2, 16}, {8, 16}, 4), "") << "two batches joined";
  EXPECT_EQ(fault({n, 12}, {1, 10}, {4, 10}, 4), "") << "another number than the reference has";
}

}  // namespace
}  // namespace hone::bench
