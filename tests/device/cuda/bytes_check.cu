// Checks of products and pools of bytes. Sums of integers are exact, so that results may differ where a
// number lies between two integers only.
#include "bytes_check.hpp"

#include <cuda_fp16.h>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>

#include <vector>

#include "device/cuda/conv_problems.hpp"
#include "device/cuda/plugin/kernels/gemm/bytes/byte_gemm.hpp"
#include "device/cuda/plugin/kernels/layers/byte_pooling.hpp"
#include "device/cuda/plugin/kernels/layers/byte_quantization.hpp"
#include "kernels_check.hpp"

namespace hone::device::cuda::check {
namespace {

/// Random bytes, every seventh at an end of their range.
struct Bytes {
  Bytes(int64_t count, bool unsigned_bytes) : is_unsigned(unsigned_bytes), host(count), device(count) {
    for (uint8_t& byte : host) {
      const uint64_t drawn = generator()();
      byte = static_cast<uint8_t>(drawn);
      if (drawn % 7 == 0) byte = is_unsigned ? 255 : drawn / 7 % 2 == 0 ? 0x80 : 0x7f;
    }
    device.upload(host.data());
  }
  int operator[](int64_t i) const { return is_unsigned ? int{host[i]} : int{static_cast<int8_t>(host[i])}; }
  const void* get() const { return device.get(); }

  bool is_unsigned;
  std::vector<uint8_t> host;
  DeviceBuffer device;
};

/// Slack for a few operations in float.
constexpr double kFloatSlack = 1e-5;

/// An exact result, and how much further off a right one may be.
struct Number {
  double value = 0;
  double slack = 0;
};

/// A product with operands, and what it gives.
struct Product {
  Product(const ConvProblem& shape, bool unsigned_x, ByteFunction function, ByteResult result,
          bool unsigned_y)
      : problem{shape, unsigned_x, result, function},
        x(int64_t{shape.batch} * shape.height * shape.width * shape.channels, unsigned_x),
        w(shape.filters * shape.depth(), false),
        packed(byte_filters(problem) * shape.depth()),
        scales(byte_scales(problem), FloatType::kFloat, 0.5, 1),
        bias(byte_scales(problem), FloatType::kFloat, -10, 10) {
    std::vector<uint8_t> rows(packed.bytes());
    const int64_t depth = shape.depth();
    for (int64_t k = 0; k < shape.filters; ++k)
      std::copy_n(w.host.data() + k * depth, depth, rows.data() + byte_filter_place(k) * depth);
    packed.upload(rows.data());
    // Results fill the range of a byte, and some leave it.
    for (double& scale : scales.host)
      scale = static_cast<float>(scale / (100 * std::sqrt(static_cast<double>(depth))));
    std::vector<float> numbers(scales.host.begin(), scales.host.end());
    scales.device.upload(numbers.data());
    if (result != ByteResult::kBytes) return;
    finish.zero_point = unsigned_y ? 3 : -2;
    finish.low = static_cast<float>((unsigned_y ? 0 : -128) - finish.zero_point);
    finish.high = finish.low + 255;
    finish.unsigned_y = unsigned_y;
    finish.clamps = unsigned_x;
  }

  ByteArgs args(void* y) const {
    ByteArgs args;
    args.x = x.get();
    args.w = packed.get();
    args.scales = static_cast<const float*>(scales.get());
    args.bias = static_cast<const float*>(bias.get());
    args.y = y;
    args.finish = finish;
    return args;
  }

  Number number(int64_t row, int64_t k, double operand) const {
    const ConvProblem& p = problem.shape;
    const int64_t column = row % p.out_width() * p.stride_w - p.pad_left;
    const int64_t line = row / p.out_width() % p.out_height() * p.stride_h - p.pad_top;
    const int64_t image = row / p.out_width() / p.out_height();
    int64_t sum = 0;
    for (int64_t tap = 0; tap < int64_t{p.kernel_h} * p.kernel_w; ++tap) {
      const int64_t at_y = line + tap / p.kernel_w * p.dilation_h;
      const int64_t at_x = column + tap % p.kernel_w * p.dilation_w;
      if (at_y < 0 || at_y >= p.height || at_x < 0 || at_x >= p.width) continue;
      const int64_t pixel = ((image * p.height + at_y) * p.width + at_x) * p.channels;
      const int64_t filter = (k * p.kernel_h * p.kernel_w + tap) * p.channels;
      for (int64_t c = 0; c < p.channels; ++c) sum += int64_t{x[pixel + c]} * w[filter + c];
    }
    double v = static_cast<double>(sum) * scales[k] + bias[k];
    double slack = 0;
    if (finish.rounds_first) {
      // Next to a tie a sum in float may round to the other side.
      const double fraction = v - std::floor(v);
      if (std::abs(fraction - 0.5) <= kFloatSlack * (1 + std::abs(v))) slack = finish.first_factor;
      v = std::clamp(std::nearbyint(v), double{finish.first_low}, double{finish.first_high}) *
          finish.first_factor;
    }
    v += operand;
    if (problem.function == ByteFunction::kSwish) v = v / (1 + std::exp(-finish.alpha * v)) * finish.factor;
    if (problem.function == ByteFunction::kGelu) v *= 0.5 * std::erfc(-v / std::sqrt(2.0)) * finish.factor;
    return {std::clamp(v, double{finish.low}, double{finish.high}), slack};
  }

  ByteProblem problem;
  Bytes x;
  Bytes w;
  DeviceBuffer packed;
  Values scales;
  Values bias;
  ByteFinish finish;
};

/// Up to `most` elements, spread over the result: all of them where there are not more.
std::vector<int64_t> places(int64_t count, int64_t most) {
  std::vector<int64_t> result;
  if (count <= most) {
    for (int64_t i = 0; i < count; ++i) result.push_back(i);
    return result;
  }
  for (int64_t i = 0; i < most; ++i)
    result.push_back(static_cast<int64_t>(generator()() % static_cast<uint64_t>(count)));
  result.push_back(count - 1);
  return result;
}

std::string text_of(const ByteProblem& problem, const WarpgroupConfig& config) {
  const ConvProblem& p = problem.shape;
  return std::to_string(p.batch) + "x" + std::to_string(p.height) + "x" + std::to_string(p.width) + "x" +
         std::to_string(p.channels) + " to " + std::to_string(p.filters) + ", window " +
         std::to_string(p.kernel_h) + ", stride " + std::to_string(p.stride_h) + ", function " +
         std::to_string(static_cast<int>(problem.function)) + ", result " +
         std::to_string(static_cast<int>(problem.result)) + (problem.unsigned_x ? ", unsigned, " : ", ") +
         config.text();
}

template <class T>
double element(const std::vector<uint8_t>& bytes, int64_t at) {
  T value;
  std::memcpy(&value, bytes.data() + at * static_cast<int64_t>(sizeof value), sizeof value);
  return static_cast<double>(static_cast<float>(value));
}

/// Whether all of these elements are right; every one is poisoned before.
bool is_right(const Product& product, const DeviceBuffer& y, const std::vector<int64_t>& places,
              const std::vector<Number>& numbers) {
  std::vector<uint8_t> bytes(y.bytes());
  y.download(bytes.data());
  const bool is_unsigned = product.finish.unsigned_y;
  for (size_t i = 0; i < places.size(); ++i) {
    double found = 0;
    // Functions and sums in float, then half a unit of the result.
    const auto [number, own_slack] = numbers[i];
    double slack = own_slack + 1e-3 + kFloatSlack * std::abs(number);
    switch (product.problem.result) {
      case ByteResult::kBytes: {
        const uint8_t byte = bytes[static_cast<size_t>(places[i])];
        found = (is_unsigned ? int{byte} : int{static_cast<int8_t>(byte)}) - product.finish.zero_point;
        slack += 0.5;
        break;
      }
      case ByteResult::kHalf:
        found = element<__half>(bytes, places[i]);
        slack += std::abs(number) * 0x1p-10;
        break;
      case ByteResult::kFloat: found = element<float>(bytes, places[i]); break;
    }
    if (!(std::abs(found - number) <= slack)) {
      std::printf("element %lld: %g, not %g\n", static_cast<long long>(places[i]), found, number);
      return false;
    }
  }
  return true;
}

void check_product(Family& family, const DeviceProperties& device, Product& product, bool adds, size_t limit,
                   int64_t most) {
  const ConvProblem& p = product.problem.shape;
  const int64_t count = p.rows() * p.filters;
  const bool bytes = product.problem.result == ByteResult::kBytes;
  const Bytes operand_bytes(bytes && adds ? count : 16, product.x.is_unsigned);
  const Values operand_floats(!bytes && adds ? count : 16, FloatType::kHalf, -50, 50);
  if (adds) {
    product.finish.operand_unsigned = operand_bytes.is_unsigned;
    product.finish.operand_factor = bytes ? 0.7F : 1.5F;
    product.finish.operand_offset = bytes ? -4.25F : 0;
  }
  const std::vector<int64_t> at = places(count, most);
  std::vector<Number> numbers;
  for (const int64_t i : at) {
    const double operand = bytes ? operand_bytes[adds ? i : 0] : operand_floats[adds ? i : 0];
    numbers.push_back(
        product.number(i / p.filters, i % p.filters,
                       adds ? operand * product.finish.operand_factor + product.finish.operand_offset : 0));
  }
  const std::vector<WarpgroupConfig> configs = byte_configs(product.problem, device, limit);
  if (device.warpgroups && configs.empty())
    family.launched(cudaErrorNotSupported, text_of(product.problem, {}));
  for (const WarpgroupConfig& config : configs) {
    const std::string what = text_of(product.problem, config);
    const int size = bytes ? 1 : product.problem.result == ByteResult::kHalf ? 2 : 4;
    const DeviceBuffer y(static_cast<size_t>(count * size));
    ByteArgs args = product.args(y.get());
    if (adds) args.operand = bytes ? operand_bytes.get() : operand_floats.get();
    family.launched(launch_bytes(product.problem, config, args, {.device = &gpu()}), what);
    family.expect(is_right(product, y, at, numbers), what);
  }
}

}  // namespace

void check_bytes() {
  Family family("bytes");
  const DeviceProperties& device = gpu();
  constexpr size_t kAll = 1000;
  for (const int channels : {16, 64, 128, 208}) {
    for (const int filters : {16, 80, 272}) {
      for (const bool is_unsigned : {false, true}) {
        for (const int kernel : {1, 3}) {
          ConvProblem p = problem(3, 9, channels, filters, kernel, 1 + filters % 3 % 2);
          p.width = 11;
          const size_t limit = channels == 208 ? kAll : 4;
          Product bounds(p, is_unsigned, ByteFunction::kBounds, ByteResult::kBytes, !is_unsigned);
          check_product(family, device, bounds, false, limit, 4000);
          Product adds(p, is_unsigned, ByteFunction::kAdd, ByteResult::kBytes, is_unsigned);
          check_product(family, device, adds, true, limit, 4000);
          if (kernel == 3) continue;
          Product twice(p, is_unsigned, ByteFunction::kAdd, ByteResult::kBytes, is_unsigned);
          twice.finish.rounds_first = true;
          twice.finish.first_low = -90;
          twice.finish.first_high = 110;
          twice.finish.first_factor = 0.75F;
          check_product(family, device, twice, true, 3, 4000);
          for (const ByteFunction function : {ByteFunction::kSwish, ByteFunction::kGelu}) {
            Product other(p, is_unsigned, function, ByteResult::kBytes, is_unsigned);
            other.finish.factor = 1.5F;
            check_product(family, device, other, false, 3, 2000);
          }
        }
      }
    }
  }
  for (const int filters : {1, 50, 200}) {
    ConvProblem p = problem(2, 9, 144, filters, 1);
    Product floats(p, filters == 50, ByteFunction::kBounds, ByteResult::kFloat, false);
    check_product(family, device, floats, false, kAll, 4000);
    Product halves(p, filters == 50, ByteFunction::kBounds, ByteResult::kHalf, false);
    check_product(family, device, halves, false, kAll, 4000);
    Product adds(p, filters != 50, ByteFunction::kAdd, ByteResult::kHalf, false);
    check_product(family, device, adds, true, kAll, 4000);
  }
}

void check_byte_quantization() {
  Family family("byte_quantization");
  for (const FloatType type : kFloatTypes) {
    for (const int64_t count : {int64_t{1}, int64_t{1600}, int64_t{70001}}) {
      for (const bool is_unsigned : {false, true}) {
        const int zero_point = is_unsigned ? 131 : -7;
        const float scale = 0.037F;
        // Some are at ties, some far beyond the range.
        Values x(count, type, -8, 8);
        for (int64_t i = 0; i < count; i += 3)
          x.host[static_cast<size_t>(i)] =
              rounded((static_cast<double>(i % 300) - 150 + 0.5) * scale * (i % 30 == 0 ? 1e6 : 1), type);
        const Values given(x.host, type);
        const DeviceBuffer y(static_cast<size_t>(count));
        const std::string what = std::string(type_name(type)) + ", " + std::to_string(count);
        family.launched(quantize_bytes(given.get(), type, y.get(), is_unsigned, scale, zero_point, count,
                                       {.device = &gpu()}),
                        what);
        std::vector<uint8_t> found(static_cast<size_t>(count));
        y.download(found.data());
        bool good = true;
        for (int64_t i = 0; i < count; ++i) {
          const float quotient = static_cast<float>(given[i]) / scale;
          const double wanted = std::clamp(std::nearbyint(static_cast<double>(quotient)) + zero_point,
                                           is_unsigned ? 0.0 : -128.0, is_unsigned ? 255.0 : 127.0);
          const uint8_t byte = found[static_cast<size_t>(i)];
          good =
              good && (is_unsigned ? int{byte} : int{static_cast<int8_t>(byte)}) == static_cast<int>(wanted);
        }
        family.expect(good, what);
      }
    }
  }
}

void check_byte_layers() {
  Family family("bytes_layers");
  struct Layer {
    int size, channels, filters, kernel, stride;
  };
  for (const Layer& layer :
       {Layer{56, 64, 64, 3, 1}, Layer{56, 64, 256, 1, 1}, Layer{56, 256, 128, 1, 1},
        Layer{56, 128, 128, 3, 2}, Layer{28, 128, 512, 1, 1}, Layer{14, 256, 256, 3, 1},
        Layer{7, 512, 512, 3, 1}, Layer{7, 512, 2048, 1, 1}, Layer{14, 1024, 2048, 1, 2}}) {
    for (const int batch : {1, 8}) {
      const ConvProblem p =
          problem(batch, layer.size, layer.channels, layer.filters, layer.kernel, layer.stride);
      Product bounds(p, true, ByteFunction::kBounds, ByteResult::kBytes, true);
      check_product(family, gpu(), bounds, false, 12, 500);
      Product adds(p, batch == 1, ByteFunction::kAdd, ByteResult::kBytes, true);
      check_product(family, gpu(), adds, true, 12, 500);
    }
  }
}

void check_byte_pools() {
  Family family("byte_pools");
  struct Case {
    int channels, height, width, kernel, stride, pad;
  };
  for (const Case& c : {Case{64, 12, 13, 3, 2, 1}, Case{37, 5, 9, 2, 2, 0}, Case{20, 7, 7, 7, 1, 0},
                        Case{256, 30, 31, 3, 1, 1}}) {
    for (const bool is_unsigned : {false, true}) {
      PoolSize size;
      size.batch = 3;
      size.channels = c.channels;
      const int extents[] = {c.height, c.width};
      for (int i = 0; i < 2; ++i) {
        size.input[1 + i] = extents[i];
        size.kernel[1 + i] = c.kernel;
        size.stride[1 + i] = c.stride;
        size.pad_begin[1 + i] = size.pad_end[1 + i] = c.pad;
        size.output[1 + i] = (extents[i] + 2 * c.pad - c.kernel) / c.stride + 1;
      }
      const Bytes x(size.batch * c.channels * c.height * c.width, is_unsigned);
      const int64_t count = size.batch * c.channels * size.output[1] * size.output[2];
      for (const PoolKind kind : {PoolKind::kMax, PoolKind::kAverage, PoolKind::kAveragePadded}) {
        const DeviceBuffer y(static_cast<size_t>(count));
        const ByteAverage average{is_unsigned, is_unsigned ? 7 : 0, 1.25F, -125, 130, is_unsigned ? -3 : 125};
        const std::string what = "kind " + std::to_string(static_cast<int>(kind)) + ", " +
                                 std::to_string(c.channels) + " channels, window " + std::to_string(c.kernel);
        family.launched(kind == PoolKind::kMax
                            ? byte_max_pool(x.get(), y.get(), is_unsigned, size, {.device = &gpu()})
                            : byte_average_pool(x.get(), y.get(), kind, average, size, {.device = &gpu()}),
                        what);
        std::vector<uint8_t> found(static_cast<size_t>(count));
        y.download(found.data());
        bool good = true;
        for (int64_t i = 0; i < count && good; ++i) {
          const int64_t channel = i % c.channels;
          const int64_t column = i / c.channels % size.output[2];
          const int64_t row = i / c.channels / size.output[2] % size.output[1];
          const int64_t image = i / c.channels / size.output[2] / size.output[1];
          int most = is_unsigned ? 0 : -128;
          int64_t sum = 0;
          int taps = 0;
          for (int r = 0; r < c.kernel; ++r) {
            for (int s = 0; s < c.kernel; ++s) {
              const int64_t at_y = row * c.stride - c.pad + r;
              const int64_t at_x = column * c.stride - c.pad + s;
              if (at_y < 0 || at_y >= c.height || at_x < 0 || at_x >= c.width) continue;
              const int value = x[((image * c.height + at_y) * c.width + at_x) * c.channels + channel];
              most = std::max(most, value);
              sum += value;
              ++taps;
            }
          }
          const int byte = found[static_cast<size_t>(i)];
          if (kind == PoolKind::kMax) {
            good = (is_unsigned ? byte : static_cast<int8_t>(byte)) == most;
            continue;
          }
          const double divisor = kind == PoolKind::kAverage ? taps : c.kernel * c.kernel;
          const double mean =
              static_cast<double>(sum - taps * average.x_zero_point) * average.factor / divisor;
          const double wanted = std::clamp(mean, double{average.low}, double{average.high});
          const int shifted = average.y_zero_point < 0 ? static_cast<int8_t>(byte) : byte;
          good = std::abs(shifted - average.y_zero_point - wanted) <= 0.501;
        }
        family.expect(good, what);
      }
    }
  }
}

}  // namespace hone::device::cuda::check
