// Shared by the files of the kernel check: device buffers, random values, comparison with derived tolerances.
#pragma once

#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "device/cuda/gpu.hpp"

namespace hone::device::cuda::check {

constexpr FloatType kFloatTypes[] = {FloatType::kFloat, FloatType::kHalf, FloatType::kBfloat16};
const char* type_name(FloatType type);
/// Half the distance between neighbours, relative: what one rounding to the type costs.
double unit_roundoff(FloatType type);
/// The nearest value of the type.
double rounded(double value, FloatType type);

/// Device memory, filled with bytes 0xff (NaN for every floating type). `shift` bytes before the data make
/// it misaligned.
class DeviceBuffer {
 public:
  explicit DeviceBuffer(size_t bytes, size_t shift = 0);
  ~DeviceBuffer();
  DeviceBuffer(const DeviceBuffer&) = delete;
  DeviceBuffer& operator=(const DeviceBuffer&) = delete;
  void* get() const { return static_cast<char*>(base_) + shift_; }
  size_t bytes() const { return bytes_; }
  void upload(const void* from);
  void download(void* to) const;

 private:
  void* base_ = nullptr;
  size_t bytes_;
  size_t shift_;
};

/// Values of one floating type on the host (as doubles, exact) and on the device.
struct Values {
  /// Uniform in [low, high), rounded to the type.
  Values(int64_t count, FloatType type, double low = -1, double high = 1, size_t shift = 0);
  Values(const std::vector<double>& values, FloatType type);
  void* get() const { return device.get(); }
  double operator[](int64_t i) const { return host[static_cast<size_t>(i)]; }

  std::vector<double> host;
  DeviceBuffer device;
};

/// Output of `count` elements; `expected` is filled by the check.
struct Output {
  Output(int64_t count, FloatType type, size_t shift = 0);
  void* get() const { return device.get(); }
  double& operator[](int64_t i) { return expected[static_cast<size_t>(i)]; }

  FloatType type;
  std::vector<double> expected;
  DeviceBuffer device;
};

std::mt19937_64& generator();

/// Counts the cases of one family and prints its line.
class Family {
 public:
  explicit Family(std::string name);
  ~Family();
  /// The launch succeeded.
  void launched(cudaError_t error, const std::string& what);
  /// Equal up to one rounding to the output's type plus `slack`, the error bound of the arithmetic in float.
  void compare(const Output& output, double slack, const std::string& what);
  void expect(bool good, const std::string& what);

 private:
  std::string name_;
  int cases_ = 0;
  int failures_ = 0;
  /// Largest error seen, in units of what was allowed.
  double worst_ = 0;
};

/// Failures of all families so far.
int failures();

/// Whether the next case is this process's (`--part`); asked once a case by the checks that can be shared.
bool case_is_ours();

/// Whether a kernel runs beside one that has not ended. Under tools that watch memory none does, and what is
/// to be seen of that cannot be checked: false then, and a line says that `family` is left out.
bool launches_overlap(const char* family);
/// Whether `launch_each`, which is called twice and waited for, takes less than a tenth of a second. Under a
/// tool that watches each access to shared memory it may take seconds, and a chain of hundreds would not end:
/// false then, and a line says that the rest of `family` is left out.
bool launches_are_short(const char* family, const std::function<void()>& launch_each);
/// Runs what could go wrong between kernels `wanted` times; where that takes more than two seconds, as under
/// a tool that makes every launch long, as often as goes into them, at least twice, and a line says so.
void replay(int wanted, const std::function<void()>& once);

/// 2^-24, the unit roundoff of float: `terms` additions of magnitude at most `magnitude` differ from the
/// exact sum by at most terms * kFloat * terms * magnitude; sums of random signs stay far below.
constexpr double kFloatRoundoff = 5.9604644775390625e-08;

void check_reorder();
void check_depthwise();
void check_depthwise_tiles();
void check_grouped();
void check_direct();
void check_transposed_convolution();
void check_pooling();
void check_pointwise();
void check_normalization();
void check_movement();
void check_indexing();
void check_attention();
void check_ranking();
void check_rotary();
void check_grid_sample();
void check_columns_to_image();
void check_strided_product();
void check_roi_align();
void check_one_hot();
void check_reduction();
void check_resize();
void check_frame_input();
void check_box_search();
void check_matrix_vector();
void check_warpgroup_matrix();
void check_warpgroup_matrix_layers();
void check_squeeze_excite();
void check_squeeze_excite_layers();
void check_squeeze_excite_chains();
void check_bottleneck();
void check_pipelined_bottleneck();
void check_cluster_bottleneck();
void check_bottleneck_chains();
void check_stem_next();
void check_convolution_sum();
void check_convolution_sum_layers();
void check_convolution_sum_chains();
void check_pooled_gemm();
void check_pooled_gemm_chains();
void check_stationary();
void check_stationary_chains();
void check_winograd();
void check_early_launches();
void check_library_calls();
void check_stamps();

}  // namespace hone::device::cuda::check
