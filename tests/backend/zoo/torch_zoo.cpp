// Built-in architectures of convolutions on the torch backends against the reference kernels, whole, on
// random images; tests/zoo compares the others, whose inputs and sums are of other kinds, on every backend.
#include <algorithm>
#include <cmath>

#include "backend/torch_support.hpp"
#include "import/load.hpp"

namespace hone::test {
namespace {

/// Each element moved to the next float up or down, as one rounding moves it.
Tensor nudged(const Tensor& tensor, uint32_t seed) {
  Tensor result = tensor.clone();
  std::mt19937 generator(seed);
  for (float& element : result.mutable_values<float>()) {
    element = std::nextafter(element, generator() % 2 == 0 ? -INFINITY : INFINITY);
  }
  return result;
}

/// Products that each convolution and linear layer adds up for an output, all of them together.
double summed_products(const graph::Graph& graph) {
  double products = 0;
  for (const graph::Node& node : graph.nodes) {
    if (node.op != "Conv" && node.op != "Gemm") continue;
    const Tensor& weight = *graph.value(node.input(1)).constant;
    products += static_cast<double>(weight.size()) / static_cast<double>(weight.shape()[0]);
  }
  return products;
}

/// Two right float32 implementations differ by u sqrt(k) in a sum of k products (see tolerance() in
/// tests/zoo/torchvision_test.py for the source), and the squares of all layers add up. A network passes an
/// error on unchanged, or enlarged as much as it enlarges a rounding of the input.
void expect_architecture_matches(const std::string& name, int64_t batch) {
  const importer::Model model = importer::load_model(name);
  const std::vector<Tensor> inputs{random_tensor({batch, 3, 224, 224}, 3)};
  const Tensor expected = reference::run_graph(*model.graph, inputs)[0];
  const std::vector<Tensor> moved{nudged(inputs[0], 5)};
  const double change = relative_error(moved[0], inputs[0]);
  const double growth = relative_error(reference::run_graph(*model.graph, moved)[0], expected) / change;
  const double tolerance = std::ldexp(std::sqrt(summed_products(*model.graph)), -24) * std::max(1.0, growth);
  EXPECT_LT(tolerance, 1e-4) << "too sensitive to tell anything";
  for (const std::string backend : {"torch", "torchscript"}) {
    const auto [outputs, refusal] = run_on(backend, *model.graph, inputs);
    ASSERT_EQ(refusal, "") << backend;
    const double error = relative_error(outputs[0], expected);
    EXPECT_LE(error, tolerance) << backend << " on " << name;
    testing::Test::RecordProperty(backend, std::to_string(error));
  }
}

class TorchZoo : public testing::TestWithParam<std::string> {};

TEST_P(TorchZoo, MatchesTheReference) {
  expect_architecture_matches(GetParam(), GetParam() == "squeezenet1_1" ? 2 : 1);
}

INSTANTIATE_TEST_SUITE_P(Architectures, TorchZoo,
                         testing::Values("resnet18", "resnet34", "resnet50", "resnet101", "mobilenet_v2",
                                         "alexnet", "vgg16", "squeezenet1_1", "densenet121",
                                         "efficientnet_b0"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace hone::test
