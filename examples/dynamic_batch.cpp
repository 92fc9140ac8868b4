// One engine for batches of 1 to 16, tuned for 8: requests that come together run together.
//
// usage: dynamic_batch MODEL      with one input, whose first dimension is open
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <hone/engine.hpp>
#include <numeric>
#include <span>
#include <vector>

namespace {

/// The input's shape at a batch; other open dimensions are 224.
hone::Dims shape_at(const hone::TensorInfo& input, int64_t batch) {
  hone::Dims dims = input.dims;
  for (int64_t& dim : dims) {
    if (dim < 0) dim = 224;
  }
  dims.at(0) = batch;
  return dims;
}

/// The input of the model, as an engine for any shape describes it.
hone::TensorInfo input_of(const char* model) {
  hone::BuildOptions options;
  options.optimization_level = 0;
  return hone::Engine::build(model, options).inputs().at(0);
}

}  // namespace

int main(int count, char** arguments) try {
  if (count != 2) {
    std::fprintf(stderr, "usage: dynamic_batch MODEL\n");
    return 2;
  }
  const hone::TensorInfo input = input_of(arguments[1]);
  hone::BuildOptions options;
  options.shapes[input.name] = {shape_at(input, 1), shape_at(input, 8), shape_at(input, 16)};
  hone::Engine engine = hone::Engine::build(arguments[1], options);
  for (const int64_t batch : {1, 4, 8, 16}) {
    const hone::Dims dims = shape_at(input, batch);
    const std::vector<float> values(
        static_cast<size_t>(std::accumulate(dims.begin(), dims.end(), int64_t{1}, std::multiplies<>())),
        0.5F);
    const hone::TensorView view(std::span<const float>(values), dims);
    engine.run({view});  // the first run of a shape prepares the engine for it
    const auto start = std::chrono::steady_clock::now();
    const auto outputs = engine.run({view});
    const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - start;
    std::printf("batch %2d: %.3f ms, %.3f ms a sample, output batch %d\n", static_cast<int>(batch),
                time.count(), time.count() / static_cast<double>(batch),
                static_cast<int>(outputs.at(0).dims.at(0)));
  }
  return 0;
} catch (const hone::Error& error) {
  std::fprintf(stderr, "dynamic_batch: %s\n", error.what());
  return error.exit_code();
}
