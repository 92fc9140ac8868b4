// Parameters from a seed; see weights.hpp.
#include <algorithm>
#include <cmath>

#include "base/fnv.hpp"
#include "import/zoo/weights.hpp"

namespace hone::importer {
namespace {

constexpr uint64_t kGolden = 0x9e3779b97f4a7c15u;

/// The output function of SplitMix64 (Steele, Lea, Flood 2014); applied to a counter it is a generator
/// without state, so every element can be computed on its own.
uint64_t mix(uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

uint64_t hash(std::string_view text) {
  base::Fnv1a state;
  state.add_characters(text);
  return state.value();
}

/// Sum of four uniform 16-bit numbers, centred: nearly normal, and exact in integers and in float.
/// (Box-Muller would need a logarithm and a cosine, which differ between C libraries.)
int32_t bell(uint64_t key, uint64_t index) {
  const uint64_t word = mix(key + (index + 1) * kGolden);
  const uint64_t sum = (word & 0xffff) + (word >> 16 & 0xffff) + (word >> 32 & 0xffff) + (word >> 48);
  return static_cast<int32_t>(sum) - 2 * 65535;
}

/// 1 / standard deviation of bell(): four times the variance (65536^2 - 1) / 12.
const float kUnit = static_cast<float>(1.0 / std::sqrt((65536.0 * 65536.0 - 1) / 3));

class SeededWeights final : public WeightSource {
 public:
  explicit SeededWeights(uint64_t seed) : seed_(seed) {}

  tensor::Tensor make(const ParameterSpec& spec) override {
    tensor::Tensor result(tensor::DType::kFloat32, spec.shape);
    const auto out = result.mutable_values<float>();
    const uint64_t key = mix(seed_ ^ mix(hash(spec.name)));
    switch (spec.role) {
      case Role::kFilter: fill_filter(out, spec, key); break;
      case Role::kEmbedding: fill_normal(out, key, spec.gain); break;
      case Role::kScale: fill_around(out, key, spec.gain, 0.1f * spec.gain); break;
      case Role::kVariance: fill_around(out, key, 1.0f, 0.2f); break;
      case Role::kBias:
      case Role::kShift:
      case Role::kMean: fill_around(out, key, 0.0f, 0.1f); break;
    }
    return result;
  }

 private:
  static void fill_filter(std::span<float> out, const ParameterSpec& spec, uint64_t key) {
    const size_t rows = static_cast<size_t>(spec.shape[0]);
    const size_t fan_in = out.size() / rows;
    const float scale = kUnit * spec.gain / std::sqrt(static_cast<float>(fan_in));
    for (size_t row = 0; row < rows; ++row) {
      float* values = out.data() + row * fan_in;
      int64_t sum = 0;
      for (size_t i = 0; i < fan_in; ++i) {
        const int32_t value = bell(key, row * fan_in + i);
        sum += value;
        values[i] = static_cast<float>(value);
      }
      // The quotient is an integer, so that it is the same on every platform.
      const int64_t average = spec.mean_part == 0 ? 0 : sum / (spec.mean_part * static_cast<int64_t>(fan_in));
      const auto mean = static_cast<float>(average);
      for (size_t i = 0; i < fan_in; ++i) values[i] = (values[i] - mean) * scale;
    }
  }

  static void fill_normal(std::span<float> out, uint64_t key, float deviation) {
    const float scale = kUnit * deviation;
    for (size_t i = 0; i < out.size(); ++i) out[i] = static_cast<float>(bell(key, i)) * scale;
  }

  /// Uses fma explicitly, because compilers differ in whether they contract a * b + c. Values stay within
  /// three deviations, so that a variance is positive.
  static void fill_around(std::span<float> out, uint64_t key, float centre, float deviation) {
    for (size_t i = 0; i < out.size(); ++i) {
      const float normal = std::clamp(static_cast<float>(bell(key, i)) * kUnit, -3.0f, 3.0f);
      out[i] = std::fma(normal, deviation, centre);
    }
  }

  uint64_t seed_;
};

}  // namespace

std::unique_ptr<WeightSource> seeded_weights(uint64_t seed) { return std::make_unique<SeededWeights>(seed); }

}  // namespace hone::importer
