// Guards that keep passes from rewriting a network into one that computes something else: crossed bounds,
// NaN, numbers that a type cannot hold, constants that raise the rank, integers.
#include <cmath>
#include <limits>

#include "support/passes.hpp"

namespace hone::test {
namespace {

constexpr const char* kActivations = "activation_recognition";
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
const Dims kRow = {Dim::symbol("N"), 7};

std::string transformed(GraphBuilder& b, ValueId result, const std::string& pass) {
  return structure(check_pass(b.finish({result}), pass).graph);
}

ValueId clip(GraphBuilder& b, ValueId x, float low, float high) {
  return b.node("Clip", {x, b.scalar(low), b.scalar(high)});
}
ValueId clip_low(GraphBuilder& b, ValueId x, float low) { return b.node("Clip", {x, b.scalar(low)}); }
ValueId clip_high(GraphBuilder& b, ValueId x, float high) {
  return b.node("Clip", {x, kNoValue, b.scalar(high)});
}

// The range of a value.

TEST(RangeGuard, ReluAfterAClipIsDroppedOnlyIfBothBoundsAllow) {
  GraphBuilder kept;
  EXPECT_EQ(transformed(kept, kept.node("Relu", {clip(kept, kept.input("x", kRow), 0, -1)}), kActivations),
            "Clip Relu");
  GraphBuilder dropped;
  const ValueId x = dropped.input("x", kRow);
  EXPECT_EQ(transformed(dropped, dropped.node("Relu", {clip(dropped, x, 0, 1)}), kActivations), "Clip");
}

TEST(RangeGuard, UpperBoundComputedAtRunTimeKeepsTheRelu) {
  GraphBuilder b;
  const ValueId x = b.input("x", kRow);
  const ValueId clipped = b.node("Clip", {x, b.scalar(0), b.input("high", {})});
  EXPECT_EQ(transformed(b, b.node("Relu", {clipped}), kActivations), "Clip Relu");
}

TEST(RangeGuard, ClipAsAPostOpKeepsTheRelu) {
  GraphBuilder b;
  const ValueId clipped = b.node("FusedElementwise", {b.input("x", kRow)},
                                 {{"post_ops", std::vector<std::string>{"clip"}},
                                  {"post_alphas", std::vector<float>{0}},
                                  {"post_betas", std::vector<float>{-1}}});
  EXPECT_EQ(transformed(b, b.node("Relu", {clipped}), kActivations), "FusedElementwise[clip] Relu");
}

TEST(RangeGuard, PaddingOfANegativeClipStaysBeforeAMaxPool) {
  GraphBuilder b;
  const ValueId clipped = clip(b, b.input("x", {Dim::symbol("N"), 2, 5, 5}), 0, -1);
  const ValueId padded = b.node("Pad", {clipped, b.ints({0, 0, 1, 1, 0, 0, 1, 1})});
  const ValueId pooled = b.node("MaxPool", {padded}, {{"kernel_shape", std::vector<int64_t>{3, 3}}});
  EXPECT_EQ(transformed(b, pooled, "pad_folding"), "Clip Pad MaxPool");
}

// Reciprocals. Powers of two, so that products equal quotients exactly.

std::string divided(DType dtype, float divisor) {
  GraphBuilder b;
  const ValueId x = b.input("x", kRow, dtype);
  const ValueId constant = b.constant(Tensor::scalar<float>(divisor).cast(dtype));
  return transformed(b, b.node("Div", {x, constant}), "division_by_constant");
}

TEST(DivisionGuard, ReciprocalHasToFitTheTensorsType) {
  EXPECT_EQ(divided(DType::kFloat16, 0x1p-17f), "Div");
  EXPECT_EQ(divided(DType::kFloat16, 0x1p15f), "Div");
  EXPECT_EQ(divided(DType::kFloat16, 0x1p-15f), "Mul");
  EXPECT_EQ(divided(DType::kFloat16, 0x1p14f), "Mul");
  EXPECT_EQ(divided(DType::kBFloat16, 0x1p-17f), "Mul");
  EXPECT_EQ(divided(DType::kFloat32, 0x1p-17f), "Mul");
}

// Constants of one element and a rank of their own.

struct RankCase {
  const char* name;
  Dims x;
  Shape constants;
};

/// In each of them the result has one dimension more than x.
const RankCase kRaising[] = {{"matrix", kRow, {1, 1, 1}}, {"scalar", {}, {1}}};

ValueId hard_sigmoid(GraphBuilder& b, ValueId x, const Shape& constants) {
  const ValueId clipped = clip(b, b.node("Add", {x, b.filled(constants, 3)}), 0, 6);
  return b.node("Div", {clipped, b.scalar(6)});
}

TEST(RankGuard, HardSigmoidAndHardSwish) {
  for (const RankCase& test : kRaising) {
    GraphBuilder b;
    const ValueId gate = hard_sigmoid(b, b.input("x", test.x), test.constants);
    EXPECT_EQ(transformed(b, gate, kActivations), "Add Clip Div") << test.name;
    GraphBuilder c;
    const ValueId x = c.input("x", test.x);
    const ValueId y = c.node("Mul", {x, hard_sigmoid(c, x, test.constants)});
    EXPECT_EQ(transformed(c, y, kActivations), "Add Clip Div Mul") << test.name;
  }
}

TEST(RankGuard, Swish) {
  for (const RankCase& test : kRaising) {
    GraphBuilder b;
    const ValueId x = b.input("x", test.x);
    const ValueId gate = b.node("Sigmoid", {b.node("Mul", {x, b.filled(test.constants, 1.702f)})});
    EXPECT_EQ(transformed(b, b.node("Mul", {x, gate}), kActivations), "Mul Sigmoid Mul") << test.name;
  }
}

ValueId gelu(GraphBuilder& b, ValueId x, const Shape& constants) {
  const ValueId erf = b.node("Erf", {b.node("Mul", {x, b.filled(constants, std::sqrt(0.5f))})});
  const ValueId gate = b.node("Add", {erf, b.scalar(1)});
  return b.node("Mul", {b.node("Mul", {x, gate}), b.scalar(0.5f)});
}

TEST(RankGuard, Gelu) {
  for (const RankCase& test : kRaising) {
    GraphBuilder b;
    const ValueId y = gelu(b, b.input("x", test.x), test.constants);
    const auto result = check_pass(b.finish({y}), "gelu_recognition");
    EXPECT_EQ(structure(result.graph), "Mul Erf Add Mul Mul") << test.name;
    EXPECT_TRUE(refuses(result, "is no Gelu: it makes float32")) << test.name;
  }
}

TEST(RankGuard, LayerNormalization) {
  GraphBuilder b;
  const ValueId x = b.input("x", kRow);
  const ValueId difference = b.node("Sub", {x, b.node("ReduceMean", {x, b.ints({-1})})});
  const ValueId square = b.node("Pow", {difference, b.scalar(2)});
  const ValueId variance = b.node("ReduceMean", {square, b.ints({-1})});
  const ValueId sum = b.node("Add", {variance, b.filled({1, 1, 1}, 1e-5f)});
  const auto result =
      check_pass(b.finish({b.node("Div", {difference, b.node("Sqrt", {sum})})}), "layer_norm_recognition");
  EXPECT_EQ(structure(result.graph), "ReduceMean Sub Pow ReduceMean Add Sqrt Div");
  EXPECT_TRUE(refuses(result, "is no LayerNormalization: it makes float32"));
}

TEST(RankGuard, ConstantsOfALowerRankStillMatch) {
  GraphBuilder b;
  EXPECT_EQ(transformed(b, gelu(b, b.input("x", kRow), {1, 1}), "gelu_recognition"), "Gelu");
  GraphBuilder c;
  EXPECT_EQ(transformed(c, hard_sigmoid(c, c.input("x", kRow), {1}), kActivations), "HardSigmoid");
}

// Integers.

ValueId integer(GraphBuilder& b, int32_t value) { return b.constant(Tensor::scalar<int32_t>(value)); }

ValueId hard_clip(GraphBuilder& b, ValueId x) {
  return b.node("Clip", {b.node("Add", {x, integer(b, 3)}), integer(b, 0), integer(b, 6)});
}

TEST(IntegerGuard, HardSigmoidAndHardSwishStayWrittenOut) {
  GraphBuilder b;
  const ValueId gate = b.node("Div", {hard_clip(b, b.input("x", kRow, DType::kInt32)), integer(b, 6)});
  EXPECT_EQ(transformed(b, gate, kActivations), "Add Clip Div");
  GraphBuilder c;
  const ValueId x = c.input("x", kRow, DType::kInt32);
  const ValueId y = c.node("Div", {c.node("Mul", {x, hard_clip(c, x)}), integer(c, 6)});
  EXPECT_EQ(transformed(c, y, kActivations), "Add Clip Mul Div");
}

// Bounds.

TEST(BoundGuard, MaximumAndMinimumWithNanStay) {
  for (const char* op : {"Max", "Min"}) {
    GraphBuilder b;
    EXPECT_EQ(transformed(b, b.node(op, {b.input("x", kRow), b.scalar(kNan)}), kActivations), op);
  }
}

/// Clip(low) before or after Clip(high).
std::string both(float low, float high, bool low_first) {
  GraphBuilder b;
  const ValueId x = b.input("x", kRow);
  const ValueId y =
      low_first ? clip_high(b, clip_low(b, x, low), high) : clip_low(b, clip_high(b, x, high), low);
  return transformed(b, y, kActivations);
}

TEST(BoundGuard, ClipsOfOneSideEachMergeInEitherOrder) {
  for (const bool low_first : {true, false}) {
    EXPECT_EQ(both(-0.5f, 0.5f, low_first), "Clip") << low_first;
    EXPECT_EQ(both(0.5f, 0.5f, low_first), "Clip") << low_first;
    EXPECT_EQ(both(0, 0.5f, low_first), "Clip") << low_first;
  }
}

TEST(BoundGuard, CrossedOrNanBoundsStayApart) {
  for (const bool low_first : {true, false}) {
    EXPECT_EQ(both(0.5f, -0.5f, low_first), "Clip Clip") << low_first;
    EXPECT_EQ(both(kNan, 0.5f, low_first), "Clip Clip") << low_first;
    EXPECT_EQ(both(-0.5f, kNan, low_first), "Clip Clip") << low_first;
  }
}

TEST(BoundGuard, IntegersThatDoubleCannotTellApartStayApart) {
  constexpr int64_t kEven = int64_t{1} << 53;
  GraphBuilder b;
  const auto bound = [&](int64_t value) { return b.constant(Tensor::scalar<int64_t>(value)); };
  const ValueId x = b.input("x", kRow, DType::kInt64);
  const ValueId upper = b.node("Clip", {x, kNoValue, bound(kEven)});
  EXPECT_EQ(transformed(b, b.node("Clip", {upper, bound(kEven + 1)}), kActivations), "Clip Clip");
}

TEST(BoundGuard, NanBoundAfterAReluStays) {
  GraphBuilder b;
  const ValueId x = b.input("x", kRow);
  EXPECT_EQ(transformed(b, clip(b, b.node("Relu", {x}), kNan, 1), kActivations), "Relu Clip");
}

}  // namespace
}  // namespace hone::test
