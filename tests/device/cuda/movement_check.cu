// Checks of movement.hpp.
#include "device/cuda/plugin/kernels/layers/movement.hpp"

#include <algorithm>
#include <cstring>
#include <functional>
#include <numeric>

#include "kernels_check.hpp"

namespace hone::device::cuda::check {
namespace {

using Bytes = std::vector<unsigned char>;

Bytes random_bytes(size_t count) {
  Bytes result(count);
  for (unsigned char& byte : result) byte = static_cast<unsigned char>(generator()());
  return result;
}

int64_t product(const std::vector<int64_t>& sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), int64_t{1}, std::multiplies<>());
}

/// Element i of the output is element source(i) of the input; -1 stands for `fill`.
template <class Launch, class Source>
void check_copy(Family& family, size_t bytes, int64_t in_count, int64_t out_count, const Launch& launch,
                const Source& source, const std::string& what) {
  const Bytes in = random_bytes(static_cast<size_t>(in_count) * bytes), fill = random_bytes(bytes);
  Bytes out(static_cast<size_t>(out_count) * bytes), expected(out.size());
  DeviceBuffer from(in.size()), to(out.size());
  from.upload(in.data());
  family.launched(launch(from.get(), to.get(), fill.data()), what);
  to.download(out.data());
  for (int64_t i = 0; i < out_count; ++i) {
    const int64_t at = source(i);
    std::memcpy(expected.data() + static_cast<size_t>(i) * bytes,
                at < 0 ? fill.data() : in.data() + static_cast<size_t>(at) * bytes, bytes);
  }
  family.expect(out == expected, what + " of " + std::to_string(bytes) + " bytes");
}

void check_view(Family& family, size_t bytes, int64_t in_count, const StridedView& view, const char* what) {
  check_copy(
      family, bytes, in_count, product(view.sizes),
      [&](const void* from, void* to, const void*) { return gather_strided(from, to, bytes, view, {}); },
      [&](int64_t i) {
        int64_t at = view.offset;
        for (size_t d = view.sizes.size(); d-- > 0; i /= view.sizes[d])
          at += i % view.sizes[d] * view.strides[d];
        return at;
      },
      what);
}

int64_t padded_source(int64_t at, int64_t size, PadMode mode) {
  while (at < 0 || at >= size) {
    if (mode == PadMode::kConstant) return -1;
    if (mode == PadMode::kEdge) return at < 0 ? 0 : size - 1;
    if (mode == PadMode::kWrap) {
      at += at < 0 ? size : -size;
    } else {
      at = at < 0 ? -at : 2 * (size - 1) - at;
    }
  }
  return at;
}

void check_pad(Family& family, size_t bytes, PadMode mode) {
  const std::vector<int64_t> sizes = {3, 4, 5}, begin = {1, -1, 6}, output = {6, 5, 14};
  check_copy(
      family, bytes, 60, product(output),
      [&](const void* from, void* to, const void* fill) {
        return pad(from, to, bytes, mode, sizes, begin, output, fill, {});
      },
      [&](int64_t i) -> int64_t {
        const int64_t coordinates[] = {i / 70, i / 14 % 5, i % 14};
        int64_t at = 0;
        for (size_t d = 0; d < 3; ++d) {
          const int64_t source = padded_source(coordinates[d] - begin[d], sizes[d], mode);
          if (source < 0) return -1;
          at = at * sizes[d] + source;
        }
        return at;
      },
      "pad mode " + std::to_string(static_cast<int>(mode)));
}

template <class Index>
void check_gather(Family& family, size_t bytes) {
  const std::vector<Index> indices = {4, -1, 0, -5, 2, 2};
  DeviceBuffer device(indices.size() * sizeof(Index));
  device.upload(indices.data());
  check_copy(
      family, bytes, 3 * 5 * 7, 3 * 6 * 7,
      [&](const void* from, void* to, const void*) {
        return gather(from, device.get(), sizeof(Index), to, bytes, 3, 5, 7, 6, {});
      },
      [&](int64_t i) {
        const auto index = static_cast<int64_t>(indices[static_cast<size_t>(i / 7 % 6)]);
        return (i / 42 * 5 + (index < 0 ? index + 5 : index)) * 7 + i % 7;
      },
      "gather");
}

/// Inputs of so many elements a row beside each other.
void check_concat(Family& family, size_t bytes, const std::vector<int64_t>& widths) {
  constexpr int64_t kRows = 9;
  const int64_t row = std::accumulate(widths.begin(), widths.end(), int64_t{0});
  const auto size = static_cast<int64_t>(bytes);
  check_copy(
      family, bytes, kRows * row, kRows * row,
      [&](const void* from, void* to, const void*) {
        std::vector<ConcatPart> parts;
        int64_t at = 0;
        for (const int64_t width : widths) {
          parts.push_back({static_cast<const char*>(from) + kRows * at * size, width * size, at * size});
          at += width;
        }
        return concatenate(parts, to, row * size, kRows, {});
      },
      [&](int64_t i) {
        int64_t at = i % row;
        int64_t first = 0;
        size_t part = 0;
        for (; at >= widths[part]; at -= widths[part++]) first += kRows * widths[part];
        return first + i / row * widths[part] + at;
      },
      "concat");
}

}  // namespace

void check_movement() {
  Family family("movement");
  for (const size_t bytes : {1, 2, 4, 8}) {
    check_view(family, bytes, 24 * 35, {{2, 35, 12}, {420, 1, 35}}, "transpose");
    check_view(family, bytes, 360, {{5, 4, 3, 6}, {1, 90, 30, 5}}, "transpose of 4 axes");
    check_view(family, bytes, 240, {{3, 5, 4}, {60, -8, 2}, 43}, "slice with negative steps");
    check_view(family, bytes, 12, {{7, 3, 5, 4}, {0, 4, 0, 1}}, "expand");
    // Depth to space, blocks of 2: [1, 8, 3, 5] to [1, 2, 6, 10], DCR.
    check_view(family, bytes, 120, {{2, 3, 2, 5, 2}, {15, 5, 60, 1, 30}}, "depth to space");
    check_view(family, bytes, 7, {{}, {}, 3}, "scalar");
    check_view(family, bytes, 7, {{0, 3}, {3, 1}}, "empty");
    for (const PadMode mode : {PadMode::kConstant, PadMode::kEdge, PadMode::kReflect, PadMode::kWrap})
      check_pad(family, bytes, mode);
    check_gather<int32_t>(family, bytes);
    check_gather<int64_t>(family, bytes);
    check_concat(family, bytes, {16, 32});
    check_concat(family, bytes, {3, 5});
    check_concat(family, bytes, {0, 6});
    // More than one launch has room for.
    check_concat(family, bytes, std::vector<int64_t>(70, 8));
  }
}

}  // namespace hone::device::cuda::check
