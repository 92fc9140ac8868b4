// Many threads run one engine, each in a context of its own: they share its weights, and none waits for
// another.
//
// usage: threads MODEL THREADS RUNS      with one input of known shape, but for the batch
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <hone/engine.hpp>
#include <numeric>
#include <span>
#include <thread>
#include <vector>

namespace {

size_t element_count(const hone::Dims& dims) {
  return static_cast<size_t>(std::accumulate(dims.begin(), dims.end(), int64_t{1}, std::multiplies<>()));
}

/// Runs the engine on values of the thread's own; false where two runs of the same values differ.
bool serve(const hone::Engine& engine, int runs, float value) {
  hone::Dims dims = engine.inputs().at(0).dims;
  for (int64_t& dim : dims) {
    if (dim < 0) dim = 1;
  }
  const std::vector<float> values(element_count(dims), value);
  hone::Context context = engine.make_context();
  // Outputs that are not given are allocated once and written by every run.
  hone::Binding binding =
      context.bind({hone::TensorView(std::span<const float>(values), dims)}, {hone::TensorView()});
  std::vector<float> first;
  for (int run = 0; run < runs; ++run) {
    context.run(binding);
    const hone::TensorView output = binding.outputs().at(0);
    const auto* scores = reinterpret_cast<const float*>(output.bytes.data());
    const std::vector<float> now(scores, scores + element_count(output.dims));
    if (run == 0) first = now;
    if (now != first) return false;
  }
  return true;
}

}  // namespace

int main(int count, char** arguments) try {
  if (count != 4) {
    std::fprintf(stderr, "usage: threads MODEL THREADS RUNS\n");
    return 2;
  }
  hone::BuildOptions options;
  options.threads = 1;  // of each run: the runs are what goes on at the same time
  const hone::Engine engine = hone::Engine::build(arguments[1], options);
  const int threads = std::atoi(arguments[2]);
  const int runs = std::atoi(arguments[3]);
  std::atomic<int> sound = 0;
  std::vector<std::thread> team;
  for (int i = 0; i < threads; ++i)
    team.emplace_back([&, i] { sound += serve(engine, runs, 0.1F * static_cast<float>(i)) ? 1 : 0; });
  for (std::thread& thread : team) thread.join();
  std::printf("%d of %d threads ran %d times with the same results\n", sound.load(), threads, runs);
  return sound == threads ? 0 : 1;
} catch (const hone::Error& error) {
  std::fprintf(stderr, "threads: %s\n", error.what());
  return error.exit_code();
}
