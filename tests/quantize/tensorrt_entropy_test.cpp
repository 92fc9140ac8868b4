// The entropy calibration against TensorRT's own: ranges that IInt8EntropyCalibrator2 of TensorRT 8.6.1 wrote
// to its cache on an H200 for the network of the digits and its held-out images, one image a batch.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <string>

#include "import/load.hpp"
#include "quantize/calibrators.hpp"
#include "reference/interpreter.hpp"
#include "tensor/npy.hpp"

namespace hone::quantize {
namespace {

using tensor::Tensor;

/// Scales, as the cache has their bits; a MaxPool has those of its input. Two tensors are left out: the
/// input, whose 17 values hone takes for spikes, and the logits, which are so few that the roundings of the
/// network's products decide which bins are empty.
const std::map<std::string, uint32_t> kCached = {
    {"/0/Conv_output_0", 0x3ce95341},    {"/2/Relu_output_0", 0x3cdf7c9c},
    {"/3/Conv_output_0", 0x3d259b90},    {"/5/Relu_output_0", 0x3d0fd481},
    {"/6/MaxPool_output_0", 0x3d0fd481}, {"/7/Conv_output_0", 0x3d528316},
    {"/9/Relu_output_0", 0x3d6ad9a9},    {"/10/MaxPool_output_0", 0x3d6ad9a9},
    {"/11/Flatten_output_0", 0x3d4f12ae}};

/// TensorRT's bins: 2,048, up to the largest magnitude of the first batch, and twice as wide whenever a later
/// one lies beyond them.
struct Bins {
  double width = 0;
  std::vector<double> counts = std::vector<double>(2048);
};

Bins bins_of(const Tensor& tensor) {
  const auto values = tensor.values<float>();
  const size_t batch = values.size() / static_cast<size_t>(tensor.shape()[0]);
  const auto largest = [](auto begin, auto end) {
    return std::abs(
        *std::max_element(begin, end, [](float a, float b) { return std::abs(a) < std::abs(b); }));
  };
  double range = largest(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(batch));
  while (range < largest(values.begin(), values.end())) range *= 2;
  Bins bins;
  bins.width = range / static_cast<double>(bins.counts.size());
  for (const float value : values) {
    const auto bin = static_cast<size_t>(std::abs(value) / bins.width);
    ++bins.counts[std::min(bin, bins.counts.size() - 1)];
  }
  return bins;
}

TEST(TensorRtEntropy, FindsTheRangesThatTensorRtFound) {
  const importer::Model model = importer::load_model(HONE_SOURCE_DIR "/models/digits/digits.onnx");
  const auto images = tensor::read_npz(HONE_SOURCE_DIR "/models/digits/held_out.npz");
  std::map<std::string, Tensor> found;
  const std::vector<Tensor> inputs = {images.at(0).second};
  reference::run_graph(*model.graph, inputs, [&](const graph::Node& node, std::span<const Tensor> outputs) {
    found.emplace(model.graph->value(node.outputs[0]).name, outputs[0]);
  });
  for (const auto& [name, bits] : kCached) {
    const std::string source = name == "/6/MaxPool_output_0"    ? "/5/Relu_output_0"
                               : name == "/10/MaxPool_output_0" ? "/9/Relu_output_0"
                                                                : name;
    ASSERT_TRUE(found.contains(source)) << source;
    const Bins bins = bins_of(found.at(source));
    const auto kept = static_cast<double>(entropy_bins(bins.counts, 128));
    // The neighbouring bins would be 5e-4 away.
    EXPECT_NEAR((kept + 0.5) * bins.width / 127 / std::bit_cast<float>(bits), 1, 1e-5) << name;
  }
}

}  // namespace
}  // namespace hone::quantize
