// Checks of attention.hpp.
#include "device/cuda/plugin/kernels/layers/attention.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels_check.hpp"

namespace hone::device::cuda::check {
namespace {

struct Case {
  int heads = 1;
  int rows = 1;
  int keys = 1;
  int depth = 64;
  bool masked = false;
  /// The mask has one number for each key, whatever the row.
  bool by_key = false;
};

/// Operands packed as [row][head][column], a mask of a number for each row and key.
AttentionSize size_of(const Case& c) {
  AttentionSize size;
  size.loops = 1;
  size.lengths[0] = c.heads;
  size.rows = c.rows;
  size.keys = c.keys;
  size.depth = size.width = c.depth;
  size.scale = 1 / std::sqrt(static_cast<float>(c.depth));
  const AttentionMatrix packed{0, {c.depth}, int64_t{c.heads} * c.depth, 1};
  size.q = size.k = size.v = size.y = packed;
  if (c.masked) {
    size.masks = 1;
    size.mask[0] = {0, {0}, c.by_key ? 0 : c.keys, 1};
  }
  return size;
}

/// Launches on caches that lack a row in the middle and hold NaN there: one appends it, and one reads the
/// caches.
auto append_and_read(const Case& c, const Values& k, const Values& v) {
  return [&](const AttentionArgs& args, FloatType type, const AttentionSize& size, int blocks,
             const LaunchOptions& options) {
    const int64_t columns = int64_t{c.heads} * c.depth;
    const int64_t place = c.keys / 2;
    const auto first = place * columns;
    const auto row_of = [&](const Values& of) {
      return std::vector<double>(of.host.begin() + first, of.host.begin() + first + columns);
    };
    const auto without = [&](const Values& of) {
      std::vector<double> values = of.host;
      std::fill_n(values.begin() + first, columns, std::numeric_limits<double>::quiet_NaN());
      return values;
    };
    const Values keys(without(k), type), values(without(v), type);
    const Values new_key(row_of(k), type), new_value(row_of(v), type);
    DeviceBuffer at(sizeof place);
    at.upload(&place);
    AttentionArgs cached = args;
    cached.k = keys.get();
    cached.v = values.get();
    AppendedRow row{static_cast<const int64_t*>(at.get()), new_key.get(), new_value.get()};
    row.k_heads = row.v_heads = {0, {c.depth}, 0, 1};
    row.k_cache = keys.get();
    row.v_cache = values.get();
    cudaError_t error = appending_row_attention(cached, row, type, size, blocks, options);
    // Its result is the one that is looked at, unless reading the caches gives another one.
    const Output again(columns, type);
    AttentionArgs reading = cached;
    reading.y = again.get();
    if (error == cudaSuccess) error = row_attention(reading, type, size, blocks, options);
    std::vector<uint16_t> one(static_cast<size_t>(columns)), other(static_cast<size_t>(columns));
    if (error == cudaSuccess) error = cudaMemcpy(one.data(), args.y, columns * 2, cudaMemcpyDeviceToHost);
    again.device.download(other.data());
    return error == cudaSuccess && one != other ? cudaErrorUnknown : error;
  };
}

void check_case(Family& family, FloatType type, const Case& c) {
  const int64_t columns = int64_t{c.heads} * c.depth;
  const Values q(c.rows * columns, type, -3, 3), k(c.keys * columns, type, -3, 3), v(c.keys * columns, type);
  const Values mask(int64_t{c.rows} * c.keys, FloatType::kFloat, -4, 4);
  const AttentionSize size = size_of(c);
  std::vector<double> expected(static_cast<size_t>(c.rows * columns));
  for (int head = 0; head < c.heads; ++head) {
    for (int row = 0; row < c.rows; ++row) {
      std::vector<double> weights(static_cast<size_t>(c.keys));
      double largest = -1e300, sum = 0;
      for (int key = 0; key < c.keys; ++key) {
        double score = 0;
        for (int i = 0; i < c.depth; ++i)
          score += q[row * columns + head * c.depth + i] * k[key * columns + head * c.depth + i];
        weights[key] =
            score * size.scale + (c.masked ? mask[(c.by_key ? 0 : int64_t{row} * c.keys) + key] : 0);
        largest = std::max(largest, weights[key]);
      }
      for (double& weight : weights) sum += weight = std::exp(weight - largest);
      for (int i = 0; i < c.depth; ++i) {
        double value = 0;
        for (int key = 0; key < c.keys; ++key) value += weights[key] * v[key * columns + head * c.depth + i];
        expected[row * columns + head * c.depth + i] = value / sum;
      }
    }
  }
  const AttentionArgs args{q.get(), k.get(), v.get(), {static_cast<const float*>(mask.get())}, nullptr};
  const auto check = [&](const char* name, const auto& launch, int split) {
    Output y(c.rows * columns, type);
    y.expected = expected;
    AttentionArgs to = args;
    to.y = y.get();
    const std::string what = std::string(name) + " " + std::to_string(split) + ", " + type_name(type) + ", " +
                             std::to_string(c.rows) + " rows, " + std::to_string(c.keys) + " keys of " +
                             std::to_string(c.depth);
    family.launched(launch(to, type, size, split, LaunchOptions{.device = &gpu()}), what);
    // Weights are rounded to the type before they are multiplied with values of magnitude up to 1.
    family.compare(y, type == FloatType::kHalf ? 0x1p-11 : 0x1p-8, what);
  };
  for (const int split : {1, 2, 4}) check("attention", attention, split);
  if (!row_attention_refusal(size, gpu())) {
    for (const int blocks : {1, 2, 4, 8}) check("attention of rows", row_attention, blocks);
  }
  if (c.rows == 1 && !row_attention_refusal(size, gpu())) {
    for (const int blocks : {1, 8})
      check("attention of a row that is appended", append_and_read(c, k, v), blocks);
  }
  if (warpgroup_attention_refusal(size, gpu())) return;
  for (const int shares : {0, 1, 2}) check("warpgroup attention", warpgroup_attention, shares);
}

}  // namespace

void check_attention() {
  Family family("attention");
  for (const FloatType type : {FloatType::kHalf, FloatType::kBfloat16}) {
    for (const bool masked : {false, true}) {
      check_case(family, type, {2, 64, 64, 64, masked});
      check_case(family, type, {3, 100, 257, 64, masked});
      check_case(family, type, {2, 49, 49, 32, masked});
      check_case(family, type, {1, 1, 130, 40, masked});
      check_case(family, type, {14, 1, 1024, 64, masked});
      check_case(family, type, {3, 8, 2500, 128, masked});
      check_case(family, type, {2, 2, 5, 24, masked});
      check_case(family, type, {2, 70, 90, 96, masked});
      check_case(family, type, {1, 20, 33, 13, masked});
      check_case(family, type, {40, 384, 384, 64, masked, masked});
      check_case(family, type, {2, 130, 70, 32, masked, masked});
    }
  }
}

}  // namespace hone::device::cuda::check
