// Reorders between quantized integers and floats.
#include "device/cpu/requantization.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "device/cpu/cpu_device.hpp"

namespace hone::device::cpu {
namespace {

using engine::Layout;
using engine::TensorDesc;
using tensor::DType;
using tensor::Quantization;

const Quantization kHalves{{0.5f}, {3}};
const Quantization kTenths{{0.1f}, {-10}};
/// Of two channels.
const Quantization kRows{{1.0f, 0.25f}, {0, 100}, 0};

template <class From, class To>
std::vector<To> converted(const std::vector<From>& values, const engine::Shape& shape,
                          const Quantization* of_from, const Quantization* of_to) {
  const TensorDesc from{tensor::DTypeOf<From>::value, shape, Layout::kPlain, of_from == nullptr ? -1 : 0};
  const TensorDesc to{tensor::DTypeOf<To>::value, shape, Layout::kPlain, of_to == nullptr ? -1 : 1};
  const auto kernel = cpu_device().make_requantization(from, to, of_from, of_to);
  if (kernel == nullptr) return {};
  std::vector<To> result(values.size());
  const void* const input = values.data();
  void* const output = result.data();
  kernel->run({.inputs = {&input, 1}, .outputs = {&output, 1}});
  return result;
}

TEST(Requantization, FloatsBecomeTheNearestIntegersAndBack) {
  const std::vector<float> values = {0,  0.24f, 0.25f, 0.75f,
                                     -1, 1000,  -1000, std::numeric_limits<float>::quiet_NaN()};
  EXPECT_EQ((converted<float, int8_t>(values, {8}, nullptr, &kHalves)),
            (std::vector<int8_t>{3, 3, 3, 5, 1, 127, -128, 3}))
      << "ties go to even";
  EXPECT_EQ((converted<float, uint8_t>(values, {8}, nullptr, &kHalves)),
            (std::vector<uint8_t>{3, 3, 3, 5, 1, 255, 0, 3}));
  EXPECT_EQ((converted<int8_t, float>({3, 5, -128}, {3}, &kHalves, nullptr)),
            (std::vector<float>{0, 1, -65.5f}));
}

TEST(Requantization, IntegersGetOtherScales) {
  EXPECT_EQ((converted<uint8_t, int8_t>({3, 4, 5, 255}, {4}, &kHalves, &kTenths)),
            (std::vector<int8_t>{-10, -5, 0, 127}));
  EXPECT_EQ((converted<int8_t, int8_t>({4, 4, 4, 4}, {2, 2}, &kHalves, &kRows)),
            (std::vector<int8_t>{0, 0, 102, 102}))
      << "half is a tie of the first row";
}

TEST(Requantization, WhatHasNoKernelIsRefused) {
  EXPECT_TRUE((converted<int8_t, int8_t>({1, 2, 3}, {3, 1}, &kHalves, &kRows)).empty()) << "three rows";
  EXPECT_TRUE((converted<int32_t, int8_t>({1}, {1}, &kHalves, &kHalves)).empty());
  EXPECT_TRUE((converted<int8_t, float>({1}, {1}, nullptr, nullptr)).empty()) << "an integer without scale";
  const TensorDesc image{DType::kInt8, {1, 8, 2, 2}, Layout::kChannelsLast, 0};
  const TensorDesc plain{DType::kFloat32, {1, 8, 2, 2}};
  EXPECT_EQ(cpu_device().make_requantization(image, plain, &kHalves, nullptr), nullptr);
}

}  // namespace
}  // namespace hone::device::cpu
