// Convolutions, pools, normalizations, products and resizing of the torch backends against the reference.
#include "backend/torch_support.hpp"

namespace hone::test {
namespace {

TEST(TorchOperators, Convolutions) {
  const Shape image{2, 4, 9, 8};
  const auto weights = with_random({{6, 4, 3, 3}, {6}});
  expect_covered({.op = "Conv", .shape = image, .more = weights});
  expect_covered(
      {.op = "Conv", .shape = image, .attributes = {{"pads", Integers{1, 1, 1, 1}}}, .more = weights});
  expect_covered({.op = "Conv",
                  .shape = image,
                  .attributes = {{"pads", Integers{0, 1, 2, 3}}, {"strides", Integers{2, 1}}},
                  .more = weights});
  expect_covered(
      {.op = "Conv", .shape = image, .attributes = {{"dilations", Integers{2, 3}}}, .more = weights});
  for (const char* automatic : {"SAME_UPPER", "SAME_LOWER", "VALID"}) {
    expect_covered({.op = "Conv",
                    .shape = image,
                    .attributes = {{"auto_pad", std::string(automatic)}, {"strides", Integers{2, 2}}},
                    .more = weights});
  }
  expect_covered({.op = "Conv",
                  .shape = image,
                  .attributes = {{"group", int64_t{2}}},
                  .more = with_random({{6, 2, 3, 3}})});
  expect_covered({.op = "Conv", .shape = {2, 4, 11}, .more = with_random({{3, 4, 3}})});
  expect_covered({.op = "Conv", .shape = {1, 2, 5, 6, 4}, .more = with_random({{3, 2, 2, 3, 2}})});
}

TEST(TorchOperators, TransposedConvolutions) {
  const Shape image{2, 4, 5, 4};
  const auto weights = with_random({{4, 3, 3, 3}, {3}});
  expect_covered({.op = "ConvTranspose", .shape = image, .more = weights});
  expect_covered({.op = "ConvTranspose",
                  .shape = image,
                  .attributes = {{"strides", Integers{2, 3}},
                                 {"pads", Integers{1, 0, 1, 0}},
                                 {"output_padding", Integers{1, 2}}},
                  .more = weights});
  expect_covered({.op = "ConvTranspose",
                  .shape = image,
                  .attributes = {{"strides", Integers{2, 2}}, {"pads", Integers{0, 1, 1, 0}}},
                  .more = weights});
  expect_covered({.op = "ConvTranspose",
                  .shape = image,
                  .attributes = {{"strides", Integers{2, 2}}, {"auto_pad", std::string("SAME_UPPER")}},
                  .more = weights});
  expect_covered({.op = "ConvTranspose",
                  .shape = image,
                  .attributes = {{"strides", Integers{2, 2}}, {"output_shape", Integers{10, 8}}},
                  .more = weights});
}

TEST(TorchOperators, Pools) {
  const Shape image{2, 3, 9, 10};
  const Integers kernel{3, 3};
  const Integers twice{2, 2};
  for (const char* op : {"MaxPool", "AveragePool"}) {
    expect_covered({.op = op, .shape = image, .attributes = {{"kernel_shape", kernel}}});
    expect_covered(
        {.op = op,
         .shape = image,
         .attributes = {{"kernel_shape", kernel}, {"strides", twice}, {"pads", Integers{1, 1, 1, 1}}}});
    expect_covered(
        {.op = op,
         .shape = image,
         .attributes = {{"kernel_shape", kernel}, {"strides", twice}, {"pads", Integers{0, 1, 2, 0}}}});
    expect_covered({.op = op,
                    .shape = image,
                    .attributes = {{"kernel_shape", kernel}, {"strides", twice}, {"ceil_mode", int64_t{1}}}});
    expect_covered({.op = op,
                    .shape = image,
                    .attributes = {{"kernel_shape", kernel},
                                   {"strides", twice},
                                   {"ceil_mode", int64_t{1}},
                                   {"pads", Integers{0, 0, 1, 1}}}});
    expect_covered({.op = op,
                    .shape = image,
                    .attributes = {{"kernel_shape", kernel}, {"auto_pad", std::string("SAME_LOWER")}}});
    expect_covered({.op = op, .shape = {2, 3, 9}, .attributes = {{"kernel_shape", Integers{2}}}});
    expect_covered({.op = op, .shape = {1, 2, 5, 6, 4}, .attributes = {{"kernel_shape", Integers{2, 3, 2}}}});
  }
  for (const Integers& pads : {Integers{1, 1, 1, 1}, Integers{0, 1, 2, 0}}) {
    expect_covered(
        {.op = "AveragePool",
         .shape = image,
         .attributes = {{"kernel_shape", kernel}, {"pads", pads}, {"count_include_pad", int64_t{1}}}});
  }
  expect_covered({.op = "MaxPool",
                  .shape = image,
                  .attributes = {{"kernel_shape", kernel}, {"strides", twice}},
                  .outputs = 2});
  expect_covered(
      {.op = "MaxPool", .shape = image, .attributes = {{"kernel_shape", kernel}, {"dilations", twice}}});
  for (const char* op : {"GlobalAveragePool", "GlobalMaxPool"}) {
    expect_covered({.op = op, .shape = image});
    expect_covered({.op = op, .shape = {2, 3, 7}});
  }
}

TEST(TorchOperators, Normalizations) {
  const Shape image{2, 4, 5, 3};
  expect_covered({.op = "BatchNormalization", .shape = image, .more = with_random({{4}, {4}, {4}, {4}})});
  expect_covered({.op = "InstanceNormalization", .shape = image, .more = with_random({{4}, {4}})});
  expect_covered({.op = "GroupNormalization",
                  .shape = image,
                  .attributes = {{"num_groups", int64_t{2}}},
                  .more = with_random({{4}, {4}})});
  expect_covered({.op = "LayerNormalization", .shape = image, .more = with_random({{3}, {3}})});
  expect_covered({.op = "LayerNormalization",
                  .shape = image,
                  .attributes = {{"axis", int64_t{2}}},
                  .more = with_random({{5, 3}}),
                  .outputs = 3});
}

TEST(TorchOperators, Products) {
  expect_covered({.op = "MatMul", .shape = {2, 3, 5, 8}, .more = with_random({{3, 8, 4}})});
  expect_covered({.op = "MatMul", .shape = {8}, .more = with_random({{8, 4}})});
  expect_covered({.op = "Gemm",
                  .shape = {5, 8},
                  .attributes = {{"transB", int64_t{1}}},
                  .more = with_random({{6, 8}, {6}})});
  expect_covered({.op = "Gemm",
                  .shape = {8, 5},
                  .attributes = {{"transA", int64_t{1}}, {"alpha", 0.5f}, {"beta", 2.0f}},
                  .more = with_random({{8, 6}, {5, 1}})});
  for (const Shape& bias : {Shape{5, 1}, Shape{5, 6}, Shape{1, 6}})
    expect_covered({.op = "Gemm", .shape = {5, 8}, .more = with_random({{8, 6}, bias})});
  expect_covered(
      {.op = "Gemm", .shape = {5, 8}, .attributes = {{"alpha", 0.5f}}, .more = with_random({{8, 6}})});
}

TEST(TorchOperators, Resizes) {
  const auto scaled = [](std::vector<float> scales) {
    return [=](GraphBuilder& b) {
      return std::vector<ValueId>{kNoValue, b.constant(Tensor::of<float>(scales, {4}))};
    };
  };
  const auto sized = [](Integers sizes) {
    return [=](GraphBuilder& b) { return std::vector<ValueId>{kNoValue, kNoValue, b.ints(sizes)}; };
  };
  const Shape image{1, 2, 5, 6};
  for (const char* mode : {"nearest", "linear", "cubic"}) {
    for (const char* coordinates : {"half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel"}) {
      const AttributeList attributes{{"mode", std::string(mode)},
                                     {"coordinate_transformation_mode", std::string(coordinates)}};
      expect_covered(
          {.op = "Resize", .shape = image, .attributes = attributes, .more = scaled({1, 1, 2, 2})});
      expect_covered({.op = "Resize", .shape = image, .attributes = attributes, .more = sized({1, 2, 3, 8})});
    }
  }
  expect_covered({.op = "Resize",
                  .shape = image,
                  .attributes = {{"coordinate_transformation_mode", std::string("asymmetric")},
                                 {"nearest_mode", std::string("floor")}},
                  .more = scaled({1, 1, 2, 2})});
}

/// ONNX's reference takes scale times length for the length of the result, before it is rounded down.
TEST(TorchOperators, ResizesByScalesThatGiveNoWholeLength) {
  for (const char* mode : {"nearest", "linear", "cubic"}) {
    for (const char* coordinates :
         {"half_pixel", "half_pixel_symmetric", "asymmetric", "align_corners", "pytorch_half_pixel"}) {
      for (const Shape& shape : {Shape{1, 2, 5, 6}, Shape{2, 5, 6}}) {
        std::vector<float> scales(shape.size(), 1);
        scales[shape.size() - 2] = 1.5f;
        scales.back() = 0.6f;
        expect_covered(
            {.op = "Resize",
             .shape = shape,
             .attributes = {{"mode", std::string(mode)},
                            {"coordinate_transformation_mode", std::string(coordinates)}},
             .more = [=](GraphBuilder& b) {
               const auto rank = static_cast<int64_t>(scales.size());
               return std::vector<ValueId>{kNoValue, b.constant(Tensor::of<float>(scales, {rank}))};
             }});
      }
    }
  }
}

TEST(TorchOperators, GlobalAveragesOfNothingAreNan) {
  expect_covered({.op = "GlobalAveragePool", .shape = {2, 3, 0, 4}});
  expect_covered({.op = "GlobalAveragePool", .shape = {2, 3, 0}});
}

}  // namespace
}  // namespace hone::test
