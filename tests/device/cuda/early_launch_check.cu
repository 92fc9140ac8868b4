// Convolutions without tensor cores as links of a chain whose kernels are launched programmatically and let
// each other in early: each must wait for what it reads.
#include <cstring>

#include "device/cuda/plugin/kernels/convolution/direct_convolution.hpp"
#include "device/cuda/plugin/kernels/convolution/winograd.hpp"
#include "kernels_check.hpp"

namespace hone::device::cuda::check {
namespace {

constexpr int64_t kBatch = 2;
constexpr int64_t kChannels = 16;
constexpr int64_t kEdge = 36;
constexpr int kLinks = 40;

ConvolutionSize convolution(int64_t group) {
  ConvolutionSize size;
  size.batch = kBatch;
  size.in_channels = size.out_channels = kChannels;
  size.group = group;
  for (int i = 1; i < 3; ++i) {
    size.input[i] = size.output[i] = kEdge;
    size.kernel[i] = 3;
    size.pad_begin[i] = 1;
  }
  return size;
}

constexpr Winograd kTransformed{kBatch, kChannels, kChannels, kEdge, kEdge, kEdge, kEdge, 1, 1, 3};

/// Weights that keep the values in range: each output is at most the largest input, but for a bias.
Values weights() { return {9 * kChannels * kChannels, FloatType::kFloat, 0, 1.0 / (9 * kChannels)}; }

cudaError_t run_link(int i, const Values& w, const void* from, void* to, const LaunchOptions& options) {
  // The link before wrote the bias, too.
  const ConvolutionArguments arguments{from, w.get(), nullptr, to};
  const ConvolutionArguments biased{from, w.get(), static_cast<const float*>(from), to};
  const auto* const x = static_cast<const float*>(from);
  auto* const y = static_cast<float*>(to);
  switch (i % 6) {
    case 0:
      return depthwise_convolution(arguments, FloatType::kFloat, convolution(kChannels), {}, i % 2, false,
                                   options);
    case 1: return direct_convolution(arguments, convolution(1), {}, DirectTile::k32x32, options);
    case 2: return grouped_convolution(arguments, FloatType::kFloat, convolution(4), {}, options);
    case 3:
      return depthwise_convolution(biased, FloatType::kFloat, convolution(kChannels), {}, 4, false, options);
    case 4: return winograd_image(kTransformed, x, 0, kTransformed.tiles(), y, options);
    default:  // what was transformed stands for products: its values do not matter
      return winograd_result(kTransformed, x, 0, kTransformed.tiles(), nullptr, {}, y, options);
  }
}

}  // namespace

void check_early_launches() {
  Family family("early launches");
  const Values w = weights();
  const Values x(kBatch * kEdge * kEdge * kChannels, FloatType::kFloat);
  const auto bytes = static_cast<size_t>(kTransformed.image_bytes(1));
  const DeviceBuffer a(bytes);
  const DeviceBuffer b(bytes);
  std::vector<unsigned char> plain(x.device.bytes());
  std::vector<unsigned char> early(x.device.bytes());
  const auto run = [&](bool pdl, std::vector<unsigned char>& result) {
    cudaMemset(a.get(), 0xff, bytes);
    cudaMemset(b.get(), 0xff, bytes);
    cudaError_t error = cudaSuccess;
    for (int i = 0; i < kLinks && error == cudaSuccess; ++i) {
      const void* const from = i == 0 ? x.get() : (i % 2 == 0 ? b : a).get();
      error =
          run_link(i, w, from, (i % 2 == 0 ? a : b).get(), {.pdl = pdl, .next_waits = pdl && i + 1 < kLinks});
    }
    family.launched(error, "chain");
    cudaMemcpy(result.data(), b.get(), result.size(), cudaMemcpyDeviceToHost);
  };
  run(false, plain);
  const float first = *reinterpret_cast<const float*>(plain.data());
  family.expect(first == first, "a chain of ordinary launches gives what is no number");
  replay(50, [&] {
    run(true, early);
    family.expect(std::memcmp(plain.data(), early.data(), plain.size()) == 0,
                  "a chain differs from ordinary launches");
  });
}

}  // namespace hone::device::cuda::check
