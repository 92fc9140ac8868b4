// Recognises digits: builds an engine, keeps it in a file, loads that and runs it; then the same with one
// that is built for shapes of its own.
//
// usage: digits MODEL ENGINE_FILE IMAGES      images are raw float32, 8 x 8 each; prints one digit a line
#include <algorithm>
#include <cstdio>
#include <fstream>
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

/// The digit of each image.
std::vector<std::ptrdiff_t> recognise(hone::Engine& engine, const std::vector<float>& images) {
  const auto count = static_cast<int64_t>(images.size()) / 64;
  const auto outputs = engine.run({{std::span<const float>(images), {count, 1, 8, 8}}});
  const auto logits = outputs.at(0).elements<float>();
  std::vector<std::ptrdiff_t> digits;
  for (int64_t i = 0; i < count; ++i) {
    const auto row = logits.subspan(static_cast<size_t>(i) * 10, 10);
    digits.push_back(std::max_element(row.begin(), row.end()) - row.begin());
  }
  return digits;
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

  if (recognise(plain, images) != digits || recognise(tuned, images) != digits) {
    std::fprintf(stderr, "the engines see different digits\n");
    return 1;
  }
  for (const std::ptrdiff_t digit : digits) std::printf("%td\n", digit);
  return 0;
} catch (const hone::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return error.exit_code();
}
