// Checks of one_hot.hpp: indices from the end, indices that name no place, axes in the middle.
#include "device/cuda/plugin/kernels/layers/one_hot.hpp"

#include "kernels_check.hpp"

namespace hone::device::cuda::check {
namespace {

template <class Index>
void check_indices(Family& family, FloatType type, int64_t outer, int64_t depth, int64_t inner) {
  std::vector<Index> indices;
  for (int64_t i = 0; i < outer * inner; ++i)
    indices.push_back(static_cast<Index>(i % (2 * depth + 3) - depth - 1));
  DeviceBuffer from(indices.size() * sizeof(Index));
  from.upload(indices.data());
  const Values values({-0.5, 2}, type);
  Output y(outer * depth * inner, type);
  const size_t bytes = type == FloatType::kFloat ? 4 : 2;
  family.launched(one_hot(from.get(), sizeof(Index), values.get(), y.get(), bytes, outer, depth, inner, {}),
                  "indices");
  for (int64_t i = 0; i < outer * depth * inner; ++i) {
    const int64_t index = indices[static_cast<size_t>(i / (depth * inner) * inner + i % inner)];
    y[i] = (index < 0 ? index + depth : index) == i / inner % depth ? 2 : -0.5;
  }
  family.compare(y, 0, "indices");
}

}  // namespace

void check_one_hot() {
  Family family("one-hot vectors");
  for (const FloatType type : kFloatTypes) {
    check_indices<int64_t>(family, type, 40, 7, 1);
    check_indices<int32_t>(family, type, 3, 5, 11);
  }
}

}  // namespace hone::device::cuda::check
