// Checks of byte_sum.hpp: the bytes of one launch are those of two products, one after the other.
#include "device/cuda/plugin/kernels/gemm/bytes/byte_sum.hpp"

#include <cmath>
#include <random>
#include <vector>

#include "bytes_check.hpp"
#include "device/cuda/conv_problems.hpp"
#include "kernels_check.hpp"

namespace hone::device::cuda::check {
namespace {

bool drawn() { return generator()() % 2 == 0; }
int below(int count) { return static_cast<int>(generator()() % static_cast<uint64_t>(count)); }

std::vector<uint8_t> content_of(const DeviceBuffer& device) {
  std::vector<uint8_t> bytes(device.bytes());
  device.download(bytes.data());
  return bytes;
}

/// Random bytes.
struct Bytes : DeviceBuffer {
  explicit Bytes(int64_t count) : DeviceBuffer(static_cast<size_t>(count)) {
    std::vector<uint8_t> host(bytes());
    for (uint8_t& byte : host) byte = static_cast<uint8_t>(generator()());
    upload(host.data());
  }
};

/// A product with random operands, whose results fill the range of a byte.
struct Product {
  Product(const ConvProblem& shape, ByteFunction function)
      : problem{shape, drawn(), ByteResult::kBytes, function},
        x(int64_t{shape.batch} * shape.height * shape.width * shape.channels),
        w(byte_filters(problem) * shape.depth()),
        scales(scales_of(byte_scales(problem), shape.depth()), FloatType::kFloat),
        bias(byte_scales(problem), FloatType::kFloat, -10, 10) {
    finish.unsigned_y = drawn();
    finish.zero_point = drawn() ? 0 : finish.unsigned_y ? 3 : -2;
    finish.low = static_cast<float>((finish.unsigned_y ? 0 : -128) - finish.zero_point);
    finish.high = finish.low + 255;
    finish.clamps = drawn();
    if (!finish.clamps || drawn()) return;
    finish.low = std::max(finish.low, -20.0F);
    finish.high = std::min(finish.high, 90.0F);
  }

  static std::vector<double> scales_of(int64_t count, int64_t depth) {
    std::vector<double> scales(static_cast<size_t>(count));
    for (double& scale : scales)
      scale = static_cast<float>((1 + static_cast<double>(below(1000)) / 1000) /
                                 (200 * std::sqrt(static_cast<double>(depth))));
    return scales;
  }

  ByteArgs args(void* y) const {
    ByteArgs args;
    args.x = x.get();
    args.w = w.get();
    args.scales = static_cast<const float*>(scales.get());
    args.bias = static_cast<const float*>(bias.get());
    args.y = y;
    args.finish = finish;
    return args;
  }

  ByteProblem problem;
  Bytes x;
  Bytes w;
  Values scales;
  Values bias;
  ByteFinish finish;
};

std::string text_of(const ConvProblem& p) {
  return std::to_string(p.batch) + "x" + std::to_string(p.height) + "x" + std::to_string(p.width) + "x" +
         std::to_string(p.channels) + " by " + std::to_string(p.kernel_h) + " at stride " +
         std::to_string(p.stride_h);
}

class SumCase {
 public:
  SumCase(const ConvProblem& first, const ConvProblem& second)
      : first_(first, ByteFunction::kBounds), second_(second, ByteFunction::kAdd) {
    ByteFinish& finish = second_.finish;
    finish.operand_unsigned = first_.finish.unsigned_y;
    finish.operand_factor = 0.7F;
    finish.operand_offset = -4.25F;
    finish.rounds_first = below(3) == 0;
    finish.first_low = -90;
    finish.first_high = 110;
    finish.first_factor = 0.75F;
  }

  /// Every configuration, into memory that holds something else.
  void run(Family& family, const DeviceProperties& device, size_t limit) {
    const std::vector<uint8_t> expected = apart(family, device);
    const std::vector<WarpgroupConfig> configs = byte_sum_configs(sum(), device, limit);
    family.expect(!configs.empty(), name() + " has no configuration");
    for (const WarpgroupConfig& config : configs) {
      const std::string what = name() + ", " + config.text();
      for (const bool pdl : {false, true}) {
        const DeviceBuffer y(expected.size());
        family.launched(launch_byte_sum(sum(), config, args(y.get()), {.device = &gpu(), .pdl = pdl}), what);
        family.expect(content_of(y) == expected, what);
      }
    }
  }

  /// Links whose second image is what the one before has made, without and with programmatic launches.
  void run_chain(Family& family, const DeviceProperties& device) {
    constexpr int kLinks = 8;
    const DeviceBuffer image[2] = {DeviceBuffer(count()), DeviceBuffer(count())};
    for (const WarpgroupConfig& config : byte_sum_configs(sum(), device)) {
      const auto chain = [&](bool pdl) {
        for (const DeviceBuffer& buffer : image) cudaMemset(buffer.get(), 0xff, buffer.bytes());
        for (int i = 0; i < kLinks; ++i) {
          ByteSumArgs link = args(image[i % 2].get());
          if (i != 0) link.second.x = image[1 - i % 2].get();
          link.second.next_waits = pdl && i + 1 < kLinks;
          family.launched(launch_byte_sum(sum(), config, link, {.device = &gpu(), .pdl = pdl}),
                          name() + ", chain");
        }
        return content_of(image[(kLinks - 1) % 2]);
      };
      const std::vector<uint8_t> plain = chain(false);
      replay(25, [&] {
        family.expect(chain(true) == plain, name() + ": a chain differs from ordinary launches");
      });
    }
  }

 private:
  ByteSum sum() const { return {first_.problem, second_.problem}; }
  ByteSumArgs args(void* y) const { return {first_.args(nullptr), second_.args(y)}; }
  size_t count() const {
    const ConvProblem& p = second_.problem.shape;
    return static_cast<size_t>(p.rows()) * static_cast<size_t>(p.filters);
  }

  std::vector<uint8_t> apart(Family& family, const DeviceProperties& device) const {
    const DeviceBuffer between(count());
    const DeviceBuffer y(count());
    const auto config_of = [&](const ByteProblem& problem) { return byte_configs(problem, device, 1).at(0); };
    family.launched(launch_bytes(first_.problem, config_of(first_.problem), first_.args(between.get()),
                                 {.device = &gpu()}),
                    name());
    ByteArgs last = second_.args(y.get());
    last.operand = between.get();
    family.launched(launch_bytes(second_.problem, config_of(second_.problem), last, {.device = &gpu()}),
                    name());
    return content_of(y);
  }

  std::string name() const {
    return text_of(first_.problem.shape) + " and " + text_of(second_.problem.shape) + " to " +
           std::to_string(second_.problem.shape.filters);
  }

  Product first_;
  Product second_;
};

/// Two convolutions of other channels, windows and strides that make images of one size.
void check_any(Family& family, const DeviceProperties& device) {
  const int batch = 1 + below(5);
  const int filters = 16 * (1 + below(20));
  const int height = 1 + below(20);
  const int width = 1 + below(20);
  const auto one = [&] {
    const int stride = 1 + below(3);
    ConvProblem p = problem(batch, 1, 16 * (1 + below(24)), filters, 1 + 2 * below(2), stride);
    p.height = (height - 1) * stride + 1 + below(stride);
    p.width = (width - 1) * stride + 1 + below(stride);
    return p;
  };
  const ConvProblem first = one();
  SumCase(first, one()).run(family, device, 1000);
}

}  // namespace

void check_byte_sum() {
  Family family("sums of bytes");
  const DeviceProperties& device = gpu();
  if (!device.warpgroups) return;
  for (int i = 0; i < 40; ++i) check_any(family, device);
}

void check_byte_sum_layers() {
  Family family("ResNets' sums of bytes");
  const DeviceProperties& device = gpu();
  if (!device.warpgroups) return;
  for (const int batch : {1, 8, 32}) {
    SumCase(problem(batch, 56, 64, 256, 1), problem(batch, 56, 64, 256, 1)).run(family, device, 12);
    SumCase(problem(batch, 28, 128, 512, 1), problem(batch, 56, 256, 512, 1, 2)).run(family, device, 12);
    SumCase(problem(batch, 28, 512, 1024, 1, 2), problem(batch, 14, 256, 1024, 1)).run(family, device, 12);
    SumCase(problem(batch, 7, 512, 2048, 1), problem(batch, 14, 1024, 2048, 1, 2)).run(family, device, 12);
    SumCase(problem(batch, 7, 512, 512), problem(batch, 14, 256, 512, 1, 2)).run(family, device, 12);
  }
}

void check_byte_sum_chains() {
  if (!launches_overlap("chains of sums of bytes")) return;
  Family family("chains of sums of bytes");
  const DeviceProperties& device = gpu();
  if (!device.warpgroups) return;
  for (const int batch : {1, 8})
    SumCase(problem(batch, 14, 256, 512, 1), problem(batch, 14, 512, 512, 1)).run_chain(family, device);
}

}  // namespace hone::device::cuda::check
