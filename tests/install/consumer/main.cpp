// Recognises digits: builds an engine, keeps it in a file, loads that and runs it; then the same with one
// that is built for shapes of its own, and on memory that is bound, which DLPack brings.
//
// usage: digits MODEL ENGINE_FILE IMAGES      images are raw float32, 8 x 8 each; prints one digit a line
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <hone/dlpack.hpp>
#include <hone/engine.hpp>
#include <iterator>

namespace {

std::vector<float> read_floats(const char* path) {
  std::ifstream file(path, std::ios::binary);
  const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
  std::vector<float> floats(bytes.size() / sizeof(float));
  std::copy(bytes.begin(), bytes.end(), reinterpret_cast<char*>(floats.data()));
  return floats;
}

std::vector<std::ptrdiff_t> largest(std::span<const float> logits) {
  std::vector<std::ptrdiff_t> digits;
  for (size_t i = 0; i < logits.size(); i += 10) {
    const auto row = logits.subspan(i, 10);
    digits.push_back(std::max_element(row.begin(), row.end()) - row.begin());
  }
  return digits;
}

/// The digit of each image.
std::vector<std::ptrdiff_t> recognise(hone::Engine& engine, const std::vector<float>& images) {
  const auto count = static_cast<int64_t>(images.size()) / 64;
  const auto outputs = engine.run({{std::span<const float>(images), {count, 1, 8, 8}}});
  return largest(outputs.at(0).elements<float>());
}

/// The same, with images and results where they are.
std::vector<std::ptrdiff_t> recognise_in_place(const hone::Engine& engine, const std::vector<float>& images) {
  const auto count = static_cast<int64_t>(images.size()) / 64;
  std::vector<float> logits(static_cast<size_t>(count) * 10);
  const hone::TensorView given(std::span<const float>(images), {count, 1, 8, 8});
  hone::Context context = engine.make_context();
  hone::Binding binding = context.bind({hone::from_dlpack(hone::to_dlpack(given))},
                                       {hone::TensorView(std::span<float>(logits), {count, 10})});
  context.run(binding);
  return largest(logits);
}

}  // namespace

int main(int, char** arguments) try {
  const std::vector<float> images = read_floats(arguments[3]);
  const auto count = static_cast<int64_t>(images.size()) / 64;
  hone::Engine plain = hone::Engine::build(arguments[1]);
  const auto digits = recognise(plain, images);
  plain.save(arguments[2]);
  plain = hone::Engine::load(arguments[2]);

  hone::BuildOptions options;
  options.threads = 1;
  options.optimization_level = 0;
  options.shapes["input"] = {{1, 1, 8, 8}, {count, 1, 8, 8}, {count, 1, 8, 8}};
  hone::Engine tuned = hone::Engine::build(arguments[1], options);

  if (recognise(plain, images) != digits || recognise(tuned, images) != digits ||
      recognise_in_place(plain, images) != digits) {
    std::fprintf(stderr, "the engines see different digits\n");
    return 1;
  }
  for (const std::ptrdiff_t digit : digits) std::printf("%td\n", digit);
  return 0;
} catch (const hone::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return error.exit_code();
}
