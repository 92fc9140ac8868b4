// Checks every kernel launcher against plain loops in double. Needs a GPU; run alone, 137 s on an H200.
//
// Prints one line per family and a summary; the exit status is 1 when a case or a call failed, 4 without a
// GPU.
#include "bytes_check.hpp"
#include "kernels_check.hpp"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <optional>
#include <string_view>
#include <utility>

#include "gpu_or_skip.hpp"
#include "support/part.hpp"

namespace hone::device::cuda::check {
namespace {

int total_cases = 0;
int total_failures = 0;
Part our_part;
size_t shared_cases = 0;

void require(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::printf("FAILED %s: %s\n", what, cudaGetErrorString(error));
  std::exit(kFailed);
}

void to_bytes(double value, FloatType type, unsigned char* to) {
  const auto narrow = static_cast<float>(value);
  if (type == FloatType::kFloat) {
    std::memcpy(to, &narrow, 4);
  } else if (type == FloatType::kHalf) {
    const __half half = __float2half_rn(narrow);
    std::memcpy(to, &half, 2);
  } else {
    const __nv_bfloat16 brain = __float2bfloat16_rn(narrow);
    std::memcpy(to, &brain, 2);
  }
}

double from_bytes(const unsigned char* from, FloatType type) {
  if (type == FloatType::kFloat) {
    float value = 0;
    std::memcpy(&value, from, 4);
    return value;
  }
  if (type == FloatType::kHalf) {
    __half value;
    std::memcpy(&value, from, 2);
    return __half2float(value);
  }
  __nv_bfloat16 value;
  std::memcpy(&value, from, 2);
  return __bfloat162float(value);
}

void upload(const std::vector<double>& values, FloatType type, DeviceBuffer& device) {
  const size_t bytes = float_bytes(type);
  std::vector<unsigned char> data(values.size() * bytes);
  for (size_t i = 0; i < values.size(); ++i) to_bytes(values[i], type, data.data() + i * bytes);
  device.upload(data.data());
}

}  // namespace

const char* type_name(FloatType type) {
  return type == FloatType::kFloat ? "float" : type == FloatType::kHalf ? "half" : "bfloat16";
}

double unit_roundoff(FloatType type) {
  return type == FloatType::kFloat ? kFloatRoundoff : std::ldexp(1.0, type == FloatType::kHalf ? -11 : -8);
}

double rounded(double value, FloatType type) {
  unsigned char bytes[4];
  to_bytes(value, type, bytes);
  return from_bytes(bytes, type);
}

DeviceBuffer::DeviceBuffer(size_t bytes, size_t shift) : bytes_(bytes), shift_(shift) {
  require(cudaMalloc(&base_, bytes + shift + 16), "cudaMalloc");
  require(cudaMemset(base_, 0xff, bytes + shift + 16), "cudaMemset");
}

DeviceBuffer::~DeviceBuffer() { cudaFree(base_); }

void DeviceBuffer::upload(const void* from) {
  require(cudaMemcpy(get(), from, bytes_, cudaMemcpyHostToDevice), "cudaMemcpy");
}

void DeviceBuffer::download(void* to) const {
  require(cudaMemcpy(to, get(), bytes_, cudaMemcpyDeviceToHost), "cudaMemcpy");
}

Values::Values(int64_t count, FloatType type, double low, double high, size_t shift)
    : host(static_cast<size_t>(count)), device(static_cast<size_t>(count) * float_bytes(type), shift) {
  std::uniform_real_distribution<double> uniform(low, high);
  for (double& value : host) value = rounded(uniform(generator()), type);
  check::upload(host, type, device);
}

Values::Values(const std::vector<double>& values, FloatType type)
    : host(values), device(values.size() * float_bytes(type)) {
  for (double& value : host) value = rounded(value, type);
  check::upload(host, type, device);
}

Output::Output(int64_t count, FloatType element, size_t shift)
    : type(element),
      expected(static_cast<size_t>(count)),
      device(static_cast<size_t>(count) * float_bytes(element), shift) {}

std::mt19937_64& generator() {
  static std::mt19937_64 engine(20240607);
  return engine;
}

Family::Family(std::string name) : name_(std::move(name)) {}

Family::~Family() {
  std::printf("%-24s %4d cases %3d failures   worst error / allowed %.3f\n", name_.c_str(), cases_, failures_,
              worst_);
  std::fflush(stdout);
  total_cases += cases_;
  total_failures += failures_;
}

void Family::launched(cudaError_t error, const std::string& what) {
  ++cases_;
  expect(error == cudaSuccess, what + ": " + cudaGetErrorString(error));
}

void Family::expect(bool good, const std::string& what) {
  if (good) return;
  if (++failures_ <= 10) std::printf("  %s: %s\n", name_.c_str(), what.c_str());
}

void Family::compare(const Output& output, double slack, const std::string& what) {
  require(cudaDeviceSynchronize(), (name_ + " " + what).c_str());
  const size_t bytes = float_bytes(output.type);
  std::vector<unsigned char> data(output.expected.size() * bytes);
  output.device.download(data.data());
  // Below the normal numbers the distance between neighbours no longer shrinks.
  const double smallest = output.type == FloatType::kHalf ? std::ldexp(1.0, -25) : 1e-40;
  for (size_t i = 0; i < output.expected.size(); ++i) {
    const double expected = output.expected[i];
    const double actual = from_bytes(data.data() + i * bytes, output.type);
    if (std::isnan(expected) ? std::isnan(actual) : actual == expected) continue;
    // |round(f) - e| <= u |f| + |f - e| with f the float result; u |f - e| is the hundredth.
    const double allowed = unit_roundoff(output.type) * std::abs(expected) * (1 + 1e-2) + slack + smallest;
    const double error = std::abs(actual - expected) / allowed;
    if (error <= 1) {
      worst_ = std::max(worst_, error);
      continue;
    }
    char text[128];
    std::snprintf(text, sizeof text, ": [%zu] is %.9g, expected %.9g, allowed %.3g", i, actual, expected,
                  allowed);
    expect(false, what + " " + type_name(output.type) + text);
    return;
  }
}

int failures() { return total_failures; }

bool case_is_ours() { return shared_cases++ % our_part.of == our_part.first; }

}  // namespace hone::device::cuda::check

namespace {

struct Check {
  std::string_view name;
  void (*run)();
};

constexpr Check kChecks[] = {
    {"reorder", hone::device::cuda::check::check_reorder},
    {"depthwise", hone::device::cuda::check::check_depthwise},
    {"depthwise_tiles", hone::device::cuda::check::check_depthwise_tiles},
    {"grouped", hone::device::cuda::check::check_grouped},
    {"direct", hone::device::cuda::check::check_direct},
    {"transposed_convolution", hone::device::cuda::check::check_transposed_convolution},
    {"pooling", hone::device::cuda::check::check_pooling},
    {"pointwise", hone::device::cuda::check::check_pointwise},
    {"normalization", hone::device::cuda::check::check_normalization},
    {"movement", hone::device::cuda::check::check_movement},
    {"indexing", hone::device::cuda::check::check_indexing},
    {"attention", hone::device::cuda::check::check_attention},
    {"ranking", hone::device::cuda::check::check_ranking},
    {"rotary", hone::device::cuda::check::check_rotary},
    {"grid_sample", hone::device::cuda::check::check_grid_sample},
    {"columns_to_image", hone::device::cuda::check::check_columns_to_image},
    {"roi_align", hone::device::cuda::check::check_roi_align},
    {"one_hot", hone::device::cuda::check::check_one_hot},
    {"strided_product", hone::device::cuda::check::check_strided_product},
    {"reduction", hone::device::cuda::check::check_reduction},
    {"resize", hone::device::cuda::check::check_resize},
    {"frame_input", hone::device::cuda::check::check_frame_input},
    {"box_search", hone::device::cuda::check::check_box_search},
    {"matrix_vector", hone::device::cuda::check::check_matrix_vector},
    {"warpgroup_matrix", hone::device::cuda::check::check_warpgroup_matrix},
    {"warpgroup_matrix_layers", hone::device::cuda::check::check_warpgroup_matrix_layers},
    {"bytes", hone::device::cuda::check::check_bytes},
    {"bytes_layers", hone::device::cuda::check::check_byte_layers},
    {"byte_sum", hone::device::cuda::check::check_byte_sum},
    {"byte_sum_layers", hone::device::cuda::check::check_byte_sum_layers},
    {"byte_sum_chains", hone::device::cuda::check::check_byte_sum_chains},
    {"byte_pools", hone::device::cuda::check::check_byte_pools},
    {"byte_quantization", hone::device::cuda::check::check_byte_quantization},
    {"squeeze_excite", hone::device::cuda::check::check_squeeze_excite},
    {"squeeze_excite_layers", hone::device::cuda::check::check_squeeze_excite_layers},
    {"squeeze_excite_chains", hone::device::cuda::check::check_squeeze_excite_chains},
    {"bottleneck", hone::device::cuda::check::check_bottleneck},
    {"pipelined_bottleneck", hone::device::cuda::check::check_pipelined_bottleneck},
    {"cluster_bottleneck", hone::device::cuda::check::check_cluster_bottleneck},
    {"bottleneck_chains", hone::device::cuda::check::check_bottleneck_chains},
    {"stem_next", hone::device::cuda::check::check_stem_next},
    {"convolution_sum", hone::device::cuda::check::check_convolution_sum},
    {"convolution_sum_layers", hone::device::cuda::check::check_convolution_sum_layers},
    {"convolution_sum_chains", hone::device::cuda::check::check_convolution_sum_chains},
    {"pooled_gemm", hone::device::cuda::check::check_pooled_gemm},
    {"pooled_gemm_chains", hone::device::cuda::check::check_pooled_gemm_chains},
    {"stationary", hone::device::cuda::check::check_stationary},
    {"stationary_chains", hone::device::cuda::check::check_stationary_chains},
    {"winograd", hone::device::cuda::check::check_winograd},
    {"early_launches", hone::device::cuda::check::check_early_launches},
    {"library_calls", hone::device::cuda::check::check_library_calls},
    {"stamps", hone::device::cuda::check::check_stamps}};

}  // namespace

/// usage: kernels_check --names | [--part K/N] [NAME...]; without names all of them. For squeeze_excite, its
/// layers and its chains --part takes every N-th case, from the K-th on, so that N processes can share them
/// under tools that make launches slow; other families run whole.
int main(int argc, char** argv) {
  using namespace hone::device::cuda::check;
  std::vector<std::string> names(argv + 1, argv + argc);
  if (names == std::vector<std::string>{"--names"}) {
    for (const Check& check : kChecks) std::printf("%s\n", check.name.data());
    return 0;
  }
  if (names.size() >= 2 && names[0] == "--part") {
    const std::optional<hone::Part> part = hone::Part::parse(names[1]);
    if (!part) {
      std::printf("--part takes K/N with K from 1 to N, not %s\n", names[1].c_str());
      return 2;
    }
    our_part = *part;
    names.erase(names.begin(), names.begin() + 2);
  }
  for (const std::string& name : names) {
    if (std::none_of(std::begin(kChecks), std::end(kChecks),
                     [&](const Check& check) { return check.name == name; })) {
      std::printf("no check is named %s; there are:", name.c_str());
      for (const Check& check : kChecks) std::printf(" %s", check.name.data());
      std::printf("\n");
      return 2;
    }
  }
  if (const int status = hone::device::cuda::status_without_gpu(); status != 0) return status;
  for (const Check& check : kChecks) {
    if (names.empty() || std::find(names.begin(), names.end(), check.name) != names.end()) check.run();
  }
  std::printf("%s\n", failures() == 0 ? "all kernels agree with the plain loops" : "FAILED");
  return failures() == 0 ? 0 : hone::device::cuda::kFailed;
}
