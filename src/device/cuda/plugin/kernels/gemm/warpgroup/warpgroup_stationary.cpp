// See warpgroup_stationary.hpp.
#include "device/cuda/plugin/kernels/gemm/warpgroup/warpgroup_stationary.hpp"

#include <algorithm>

#include "device/cuda/plugin/kernels/common/ceil_divide.hpp"

namespace hone::device::cuda {
namespace {

/// Numbers of columns for which kernels are compiled.
constexpr int kColumns[] = {56, 104, 120};
constexpr int kRowBytes = 128;
/// Bytes of a warpgroup's sums for eight columns.
constexpr int64_t kEightBytes = 128 * 16;

int rows_of(const ConvProblem& p, int columns) { return std::min(p.height, (columns + 1) / (p.width + 1)); }

int strips_of(const ConvProblem& p, int columns) { return ceil_divide(p.height, rows_of(p, columns)); }

}  // namespace

StationaryPlan StationaryPlan::of(const ConvProblem& p, const DeviceProperties& device) {
  StationaryPlan plan;
  int64_t least = 0;
  for (const int columns : kColumns) {
    if (rows_of(p, columns) < 1) continue;
    const int64_t all = int64_t{strips_of(p, columns)} * columns;
    if (plan.columns != 0 && all >= least) continue;
    least = all;
    plan.columns = columns;
  }
  plan.rows = rows_of(p, plan.columns);
  plan.strips = strips_of(p, plan.columns);
  plan.parts = p.channels / kBlockChannels;
  // Room for the rows above and below and one pixel more. The last tap's columns may end later than that.
  const int64_t pitch = p.width + 1;
  const int64_t pixels = std::max((plan.rows + 3) * pitch, 2 * pitch + 2 + plan.columns);
  // A warpgroup finishes every second group of eight columns. The other warpgroup's parts overwrite pixels.
  const int64_t eights = ceil_divide(plan.columns, 16);
  plan.slab_bytes =
      static_cast<int>(ceil_divide(std::max(pixels * kRowBytes, eights * kEightBytes), 1024) * 1024);
  const int64_t room = device.shared_memory - plan.shared_bytes(0);
  plan.most_tiles = room < 0 ? 0
                             : static_cast<int>(std::min<int64_t>(most_stationary_tiles(plan.columns),
                                                                  room / (2 * plan.slab_bytes)));
  return plan;
}

size_t stationary_place(int64_t channels, int64_t filter, int64_t tap, int64_t channel) {
  const int64_t matrix = (filter / 64 * (channels / 64) + channel / 64) * 9 + tap;
  const int64_t chunk = (channel % 64 / 8) ^ (filter % 8);
  return static_cast<size_t>((matrix * 64 + filter % 64) * 64 + chunk * 8 + channel % 8);
}

Refusal warpgroup_stationary_refusal(const ConvProblem& p, const DeviceProperties& device) {
  if (!device.warpgroups || !device.clusters)
    return "the device has no products of warpgroups, or no clusters";
  if (element_bytes(p.element) != 2) return "elements are not of two bytes";
  if (p.float_result) return "results are floats";
  for (const int size : {p.kernel_h, p.kernel_w}) {
    if (size != 3) return "windows are not of 3 x 3";
  }
  for (const int one : {p.stride_h, p.stride_w, p.dilation_h, p.dilation_w, p.pad_top, p.pad_left,
                        p.pad_bottom, p.pad_right}) {
    if (one != 1) return "strides, dilations and padding are not all 1";
  }
  if (p.pitch() != p.channels) return "pixels do not lie one after the other";
  constexpr int kMostParts = 4;
  const int parts = p.channels / StationaryPlan::kBlockChannels;
  if (p.channels % StationaryPlan::kBlockChannels != 0 || parts < 1 || parts > kMostParts || parts == 3)
    return std::to_string(p.channels) + " channels, not 128, 256 or 512";
  if (p.filters < 1 || p.filters % StationaryPlan::kFilters != 0)
    return std::to_string(p.filters) + " filters, no multiple of 64";
  if (p.height < 1 || p.width < 1) return "the image is empty";
  if (rows_of(p, *std::max_element(std::begin(kColumns), std::end(kColumns))) < 1)
    return "rows of " + std::to_string(p.width) + " pixels do not fit";
  const StationaryPlan plan = StationaryPlan::of(p, device);
  if (plan.most_tiles < 1) return "a tile does not fit into shared memory";
  constexpr int64_t kMost = int64_t{1} << 30;
  if (int64_t{p.batch} * plan.strips * p.filters / 64 * parts > kMost ||
      int64_t{plan.rows} * p.width * p.filters > kMost)
    return "the image is too large";
  return {};
}

}  // namespace hone::device::cuda
