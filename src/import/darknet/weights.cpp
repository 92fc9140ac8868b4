// See weights.hpp.
#include "import/darknet/weights.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/checked.hpp"
#include "base/error.hpp"
#include "import/tensor_bytes.hpp"
#include "system/memory.hpp"

namespace hone::importer::darknet {
namespace {

constexpr size_t kVersionBytes = 12;
/// Largest version that the programs can have written, also for transposed weights.
constexpr int32_t kLargestVersion = 100'000;
/// The constant that batch normalization adds to a variance.
constexpr float kEpsilon = 1e-5f;

int64_t count_of(const ParameterSpec& parameter) {
  int64_t count = 1;
  for (const int64_t dim : parameter.shape) count = base::checked_mul(count, dim);
  return count;
}

uint64_t bytes_of(const Layer& layer) {
  uint64_t bytes = 0;
  for (const ParameterSpec& parameter : layer.parameters)
    bytes = base::checked_add(bytes, static_cast<uint64_t>(count_of(parameter)) * sizeof(float));
  return bytes;
}

uint64_t bytes_of(const Network& network) {
  uint64_t bytes = 0;
  for (const Layer& layer : network.layers) bytes = base::checked_add(bytes, bytes_of(layer));
  return bytes;
}

/// Names the layer within whose weights the file ends.
[[noreturn]] void fail_short(const Network& network, uint64_t header, uint64_t needed, uint64_t there) {
  if (there == header)
    fail_bad_input("{} bytes are needed, {} are there: a header without weights; the file was cut off",
                   needed, there);
  uint64_t end = header;
  for (size_t i = 0; i < network.layers.size(); ++i) {
    const Layer& layer = network.layers[i];
    const uint64_t next = end + bytes_of(layer);
    if (next <= there) {
      end = next;
      continue;
    }
    const auto fit =
        i == 0 ? std::string("no layer fits") : fmt::format("the layers before number {} fit", i);
    if (end == there)
      fail_bad_input(
          "{} bytes are needed, {} are there: {} exactly; files like yolov4.conv.137, which training starts "
          "from, hold the first layers only",
          needed, there, fit);
    fail_bad_input(
        "{} bytes are needed, {} are there: {}, the {} bytes of layer {} ([{}], line {}) do not; the file "
        "is cut off, or belongs to another cfg",
        needed, there, fit, next - end, i, layer.type, layer.line);
  }
  fail_internal("a file of {} bytes is not short of {}", there, needed);
}

class FileSource final : public WeightSource {
 public:
  FileSource(std::span<const std::byte> data, std::shared_ptr<const void> owner)
      : data_(data), owner_(std::move(owner)) {}

  tensor::Tensor make(const ParameterSpec& spec) override {
    const auto size = static_cast<size_t>(count_of(spec)) * sizeof(float);
    const auto bytes = data_.subspan(used_, size);
    used_ += size;
    tensor::Tensor result = tensor_from_bytes(tensor::DType::kFloat32, spec.shape, bytes, "weights", owner_);
    check(result.values<float>(), spec);
    return result;
  }

 private:
  static void check(std::span<const float> values, const ParameterSpec& spec) {
    const auto wrong = std::ranges::find_if(values, [](float value) { return !std::isfinite(value); });
    if (wrong != values.end())
      fail_bad_input(
          "{}: number {} of {} is {}: the file is damaged, belongs to another cfg, or its training went "
          "astray",
          spec.name, wrong - values.begin(), values.size(), *wrong);
    if (spec.role != Role::kVariance) return;
    const auto negative = std::ranges::find_if(values, [](float value) { return value <= -kEpsilon; });
    if (negative != values.end())
      fail_bad_input("{}: variance {} is {}: the file is damaged, or belongs to another cfg", spec.name,
                     negative - values.begin(), *negative);
  }

  std::span<const std::byte> data_;
  std::shared_ptr<const void> owner_;
  size_t used_ = 0;
};

}  // namespace

WeightsHeader read_header(std::span<const std::byte> file) {
  WeightsHeader header;
  if (file.size() < kVersionBytes)
    fail_bad_input("{} bytes are no weights file of darknet, whose header has at least 16 or 20",
                   file.size());
  std::memcpy(&header.major, file.data(), sizeof(int32_t));
  std::memcpy(&header.minor, file.data() + sizeof(int32_t), sizeof(int32_t));
  const auto sound = [](int32_t version) { return version >= 0 && version <= kLargestVersion; };
  if (!sound(header.major) || !sound(header.minor))
    fail_bad_input("version {}.{} is none of darknet's: this is no weights file", header.major, header.minor);
  // The number of images seen has 8 bytes from version 0.2 on.
  const bool long_count = header.major * 10 + header.minor >= 2;
  header.bytes = kVersionBytes + (long_count ? sizeof(uint64_t) : sizeof(uint32_t));
  if (file.size() < header.bytes)
    fail_bad_input("the header of {} bytes is cut off after {}", header.bytes, file.size());
  return header;
}

std::unique_ptr<WeightSource> weights_of(std::span<const std::byte> file, const Network& network,
                                         const std::shared_ptr<const void>& owner,
                                         std::vector<std::string>* warnings) {
  WeightsHeader header = read_header(file);
  const uint64_t numbers = bytes_of(network);
  // Versions above 1000 come from two families of programs: one writes 4 bytes for the number of images, the
  // other reads 8.
  const uint64_t short_header = kVersionBytes + sizeof(uint32_t);
  if (header.transposed() && file.size() == base::checked_add(short_header, numbers))
    header.bytes = short_header;
  const uint64_t needed = base::checked_add<uint64_t>(header.bytes, numbers);
  if (needed > file.size()) fail_short(network, header.bytes, needed, file.size());
  if (needed < file.size())
    warnings->push_back(
        fmt::format("{} bytes are left over, the network needs {} of {}: the file may belong to another cfg",
                    file.size() - needed, needed, file.size()));
  return std::make_unique<FileSource>(file.subspan(header.bytes), owner);
}

void check_memory(const Network& network) {
  const uint64_t needed = bytes_of(network);
  const auto limit = static_cast<uint64_t>(system::memory_limit());
  if (needed > limit)
    fail_bad_input("its weights take {} bytes, the limit is {} ($HONE_MEMORY_LIMIT_MB)", needed, limit);
}

}  // namespace hone::importer::darknet
