// Checks of indexing.hpp.
#include "device/cuda/plugin/kernels/layers/indexing.hpp"

#include <cstring>

#include "kernels_check.hpp"

namespace hone::device::cuda::check {
namespace {

using Bytes = std::vector<unsigned char>;

Bytes random_bytes(size_t count) {
  Bytes result(count);
  for (unsigned char& byte : result) byte = static_cast<unsigned char>(generator()());
  return result;
}

/// `places`: where element i of the dense side lies in data of `size` elements.
template <class Gather, class Scatter>
void check_both(Family& family, size_t bytes, size_t size, const std::vector<size_t>& places,
                const Gather& gather, const Scatter& scatter, const std::string& what) {
  const Bytes data = random_bytes(size * bytes), updates = random_bytes(places.size() * bytes);
  Bytes picked(places.size() * bytes), expected_picked(picked.size()), written(data.size()), expected = data;
  DeviceBuffer from(data.size()), into(data.size()), values(updates.size()), out(picked.size());
  from.upload(data.data());
  into.upload(data.data());
  values.upload(updates.data());
  family.launched(gather(from.get(), out.get()), what);
  family.launched(scatter(values.get(), into.get()), what);
  for (size_t i = 0; i < places.size(); ++i) {
    std::memcpy(expected_picked.data() + i * bytes, data.data() + places[i] * bytes, bytes);
    std::memcpy(expected.data() + places[i] * bytes, updates.data() + i * bytes, bytes);
  }
  out.download(picked.data());
  into.download(written.data());
  family.expect(picked == expected_picked, what + " read, of " + std::to_string(bytes) + " bytes");
  family.expect(written == expected, what + " written, of " + std::to_string(bytes) + " bytes");
}

/// Data of 3 x 5 x 4, indices of 2 x 3 x 4 into the middle axis, none twice.
template <class Index>
void check_elements(Family& family, size_t bytes) {
  std::vector<Index> indices;
  std::vector<size_t> places;
  for (int i = 0; i < 2 * 3 * 4; ++i) {
    const int index = (i / 4 % 3 * 2 + i % 4) % 5;
    indices.push_back(static_cast<Index>(i % 2 == 0 ? index : index - 5));
    places.push_back(static_cast<size_t>((i / 12 * 5 + index) * 4 + i % 4));
  }
  DeviceBuffer device(indices.size() * sizeof(Index));
  device.upload(indices.data());
  const ElementPicks picks{{2, 3, 4}, {20, 0, 1}, 5, 4};
  check_both(
      family, bytes, 60, places,
      [&](const void* from, void* to) {
        return gather_elements(from, device.get(), sizeof(Index), to, bytes, picks, {});
      },
      [&](const void* from, void* to) {
        return scatter_elements(from, device.get(), sizeof(Index), to, bytes, picks, {});
      },
      "elements");
}

/// Data of 2 batches of 3 x 4 x 5, tuples of two indices, three in a batch.
template <class Index>
void check_slices(Family& family, size_t bytes) {
  const std::vector<Index> indices = {0, 1, -1, -4, 1, 3, 2, 2, 0, -1, -2, 0};
  const int starts[] = {1, 8, 7, 12 + 10, 12 + 3, 12 + 4};
  std::vector<size_t> places;
  for (const int start : starts) {
    for (int i = 0; i < 5; ++i) places.push_back(static_cast<size_t>(start * 5 + i));
  }
  DeviceBuffer device(indices.size() * sizeof(Index));
  device.upload(indices.data());
  const SlicePicks picks{{3, 4}, {20, 5}, 6, 3, 60, 5};
  check_both(
      family, bytes, 120, places,
      [&](const void* from, void* to) {
        return gather_slices(from, device.get(), sizeof(Index), to, bytes, picks, {});
      },
      [&](const void* from, void* to) {
        return scatter_slices(from, device.get(), sizeof(Index), to, bytes, picks, {});
      },
      "slices");
}

}  // namespace

void check_indexing() {
  Family family("indexing");
  for (const size_t bytes : {1, 2, 4, 8}) {
    check_elements<int32_t>(family, bytes);
    check_elements<int64_t>(family, bytes);
    check_slices<int32_t>(family, bytes);
    check_slices<int64_t>(family, bytes);
  }
}

}  // namespace hone::device::cuda::check
