// Every built-in architecture on the torch backends against the reference kernels, whole, on random images.
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

/// Networks with seeded weights amplify small errors, each by a factor of its own. The change that one
/// rounding of the input makes measures it; the roundings of N nodes add up as a random walk, with up to 4
/// units in the last place each, since a node sums many rounded products.
void expect_architecture_matches(const std::string& name, int64_t batch) {
  const importer::Model model = importer::load_model(name);
  const std::vector<Tensor> inputs{random_tensor({batch, 3, 224, 224}, 3)};
  const Tensor expected = reference::run_graph(*model.graph, inputs)[0];
  const std::vector<Tensor> moved{nudged(inputs[0], 5)};
  const double sensitivity = relative_error(reference::run_graph(*model.graph, moved)[0], expected);
  const double tolerance = 4 * std::sqrt(static_cast<double>(model.graph->nodes.size())) * sensitivity;
  EXPECT_LT(tolerance, 1e-2) << "too sensitive to tell anything";
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

INSTANTIATE_TEST_SUITE_P(Architectures, TorchZoo, testing::ValuesIn(importer::architecture_names()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace hone::test
