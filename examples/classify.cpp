// Classifies an image: builds an engine, or loads the one that an earlier run kept, and prints the likeliest
// classes.
//
// usage: classify MODEL IMAGE [ENGINE_FILE]
//
// IMAGE is a binary PGM or PPM file of the size that the model takes (`convert cat.jpg -resize '224x224!'
// cat.ppm`). Values are 0 to 1; a model that was trained on normalized images needs its mean and deviation
// applied as well.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <hone/engine.hpp>
#include <numeric>
#include <span>
#include <string>
#include <vector>

namespace {

struct Image {
  int64_t channels = 0;
  int64_t height = 0;
  int64_t width = 0;
  std::vector<float> values;  ///< [channels, height, width]
};

Image read_image(const char* path) {
  std::ifstream file(path, std::ios::binary);
  std::string magic;
  int64_t largest = 0;
  Image image;
  file >> magic >> image.width >> image.height >> largest;
  file.get();
  if (!file || (magic != "P5" && magic != "P6") || largest != 255 || image.width < 1 || image.height < 1 ||
      image.width > 16384 || image.height > 16384)
    throw hone::Error(hone::ErrorKind::kBadInput, std::string(path) + " is no binary PGM or PPM file");
  image.channels = magic == "P6" ? 3 : 1;
  const auto plane = static_cast<size_t>(image.height * image.width);
  const auto channels = static_cast<size_t>(image.channels);
  std::vector<char> bytes(plane * channels);
  if (!file.read(bytes.data(), static_cast<std::streamsize>(bytes.size())))
    throw hone::Error(hone::ErrorKind::kBadInput, std::string(path) + " ends too early");
  image.values.resize(bytes.size());
  for (size_t pixel = 0; pixel < plane; ++pixel) {
    for (size_t channel = 0; channel < channels; ++channel)
      image.values[channel * plane + pixel] =
          static_cast<float>(static_cast<uint8_t>(bytes[pixel * channels + channel])) / 255;
  }
  return image;
}

hone::Engine engine_for(const char* model, const char* kept) {
  if (kept != nullptr && std::filesystem::exists(kept)) return hone::Engine::load(kept);
  hone::Engine engine = hone::Engine::build(model);
  if (kept != nullptr) engine.save(kept);
  return engine;
}

void print_likeliest(std::span<const float> scores, size_t count) {
  std::vector<size_t> order(scores.size());
  std::iota(order.begin(), order.end(), size_t{0});
  count = std::min(count, order.size());
  std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(count), order.end(),
                    [&](size_t a, size_t b) { return scores[a] > scores[b]; });
  const float largest = scores[order.front()];
  double sum = 0;
  for (const float score : scores) sum += std::exp(static_cast<double>(score - largest));
  for (size_t i = 0; i < count; ++i)
    std::printf("class %zu  %.1f %%\n", order[i],
                100 * std::exp(static_cast<double>(scores[order[i]] - largest)) / sum);
}

}  // namespace

int main(int count, char** arguments) try {
  if (count < 3) {
    std::fprintf(stderr, "usage: classify MODEL IMAGE [ENGINE_FILE]\n");
    return 2;
  }
  const Image image = read_image(arguments[2]);
  hone::Engine engine = engine_for(arguments[1], count > 3 ? arguments[3] : nullptr);
  const auto outputs =
      engine.run({{std::span<const float>(image.values), {1, image.channels, image.height, image.width}}});
  print_likeliest(outputs.at(0).elements<float>(), 5);
  return 0;
} catch (const hone::Error& error) {
  std::fprintf(stderr, "classify: %s\n", error.what());
  return error.exit_code();
}
