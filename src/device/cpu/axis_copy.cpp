// See axis_copy.hpp.
#include "device/cpu/axis_copy.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <numeric>
#include <span>

#include "device/cpu/clones.hpp"
#include "device/cpu/ranges.hpp"

namespace hone::device::cpu {
namespace {

using engine::Layout;
using engine::Shape;

/// Bytes that are worth starting threads for.
constexpr int64_t kWorthThreads = 1 << 18;

bool is_whole(const std::vector<int64_t>& sources, int64_t length) {
  if (static_cast<int64_t>(sources.size()) != length) return false;
  for (size_t i = 0; i < sources.size(); ++i) {
    if (sources[i] != static_cast<int64_t>(i)) return false;
  }
  return true;
}

/// Sources of whole blocks of channels; nullopt where they are none.
std::optional<std::vector<int64_t>> block_sources(const std::vector<int64_t>& channels, int64_t length,
                                                  int64_t block) {
  std::vector<int64_t> blocks;
  const auto count = static_cast<int64_t>(channels.size());
  if (count % block != 0 || length % block != 0) {
    // A last, partial block keeps its padding.
    if (!is_whole(channels, length)) return std::nullopt;
  }
  for (int64_t c = 0; c < count; c += block) {
    const int64_t first = channels[static_cast<size_t>(c)];
    if (first != kFill && first % block != 0) return std::nullopt;
    for (int64_t i = 0; i < std::min(block, count - c); ++i) {
      if (channels[static_cast<size_t>(c + i)] != (first == kFill ? kFill : first + i)) return std::nullopt;
    }
    blocks.push_back(first == kFill ? kFill : first / block);
  }
  return blocks;
}

bool fills(const std::vector<int64_t>& sources) {
  return std::find(sources.begin(), sources.end(), kFill) != sources.end();
}

HONE_CLONES void gather4(const uint32_t* from, const int32_t* positions, uint32_t* to, size_t n) {
#pragma omp simd
  for (size_t i = 0; i < n; ++i) to[i] = from[positions[i]];
}

template <class T>
void gather(const std::byte* from, const std::vector<int32_t>& positions, std::byte* to) {
  const auto* elements = reinterpret_cast<const T*>(from);
  auto* result = reinterpret_cast<T*>(to);
  for (size_t i = 0; i < positions.size(); ++i) result[i] = elements[positions[i]];
}

template <class T>
HONE_INLINE void repeat_elements(const T* from, size_t n, size_t times, T* to) {
  if (times == 2) {
    for (size_t i = 0; i < n; ++i) {
      to[2 * i] = from[i];
      to[2 * i + 1] = from[i];
    }
  } else if (times == 4) {
    for (size_t i = 0; i < n; ++i) {
      for (size_t k = 0; k < 4; ++k) to[4 * i + k] = from[i];
    }
  } else {
    for (size_t i = 0; i < n; ++i) {
      for (size_t k = 0; k < times; ++k) to[times * i + k] = from[i];
    }
  }
}

#define HONE_REPEAT(name, type)                                                        \
  HONE_CLONES void name(const void* from, size_t n, size_t times, void* to) {          \
    repeat_elements(static_cast<const type*>(from), n, times, static_cast<type*>(to)); \
  }
HONE_REPEAT(repeat1, uint8_t)
HONE_REPEAT(repeat2, uint16_t)
HONE_REPEAT(repeat4, uint32_t)
HONE_REPEAT(repeat8, uint64_t)

void fill_elements(std::byte* to, int64_t count, const std::byte* value, size_t element) {
  switch (element) {
    case 1: std::memset(to, std::to_integer<int>(*value), static_cast<size_t>(count)); return;
    case 2:
      std::fill_n(reinterpret_cast<uint16_t*>(to), count, *reinterpret_cast<const uint16_t*>(value));
      return;
    case 4:
      std::fill_n(reinterpret_cast<uint32_t*>(to), count, *reinterpret_cast<const uint32_t*>(value));
      return;
    default:
      std::fill_n(reinterpret_cast<uint64_t*>(to), count, *reinterpret_cast<const uint64_t*>(value));
      return;
  }
}

}  // namespace

std::vector<int64_t> counting(int64_t length) {
  std::vector<int64_t> positions(static_cast<size_t>(length));
  std::iota(positions.begin(), positions.end(), 0);
  return positions;
}

std::optional<MemoryAxes> memory_axes(const AxisSources& sources, const Shape& input, Layout layout) {
  MemoryAxes axes{sources, input};
  if (layout == Layout::kPlain) return axes;
  if (layout == Layout::kChannelsLast) {
    std::rotate(axes.sources.begin() + 1, axes.sources.begin() + 2, axes.sources.end());
    std::rotate(axes.input.begin() + 1, axes.input.begin() + 2, axes.input.end());
    return axes;
  }
  const int64_t block = engine::layout_block(layout);
  auto blocks = block_sources(sources[1], input[1], block);
  if (!blocks) return std::nullopt;
  // The channels of padding stay zero, whatever the filling value.
  if (input[1] % block != 0 && std::any_of(sources.begin(), sources.end(), fills)) return std::nullopt;
  axes.sources[1] = std::move(*blocks);
  axes.input[1] = (input[1] + block - 1) / block;
  axes.sources.push_back(counting(block));
  axes.input.push_back(block);
  return axes;
}

AxisCopy::AxisCopy(const MemoryAxes& axes, size_t element) : element_(element) {
  const Shape strides = tensor::row_major_strides(axes.input);
  size_t end = axes.sources.size();
  while (end > 0 && is_whole(axes.sources[end - 1], axes.input[end - 1])) unit_ *= axes.input[--end];
  outer_.assign(axes.sources.begin(),
                axes.sources.begin() + static_cast<std::ptrdiff_t>(end > 0 ? end - 1 : 0));
  for (size_t d = 0; d < outer_.size(); ++d) {
    rows_ *= static_cast<int64_t>(outer_[d].size());
    for (int64_t& source : outer_[d]) source = source == kFill ? kFill : source * strides[d];
  }
  const std::vector<int64_t> row = end > 0 ? axes.sources[end - 1] : std::vector<int64_t>{0};
  length_ = static_cast<int64_t>(row.size());
  for (int64_t i = 0; i < length_; ++i) {
    const int64_t from = row[static_cast<size_t>(i)];
    const bool joins = !segments_.empty() && [&] {
      const Segment& last = segments_.back();
      return last.from == kFill ? from == kFill : from == last.from + last.count;
    }();
    if (joins) {
      ++segments_.back().count;
    } else {
      segments_.push_back({i, 1, from});
    }
  }
  // Short segments of single elements are cheaper one by one.
  if (row.empty() || unit_ != 1 || fills(row) || static_cast<int64_t>(segments_.size()) * 8 < length_) return;
  if (*std::max_element(row.begin(), row.end()) > std::numeric_limits<int32_t>::max()) return;
  gather_.assign(row.begin(), row.end());
  kind_ = RowKind::kGather;
  int64_t times = 1;
  while (times < length_ && row[static_cast<size_t>(times)] == row[0]) ++times;
  if (times == 1 || length_ % times != 0) return;
  for (int64_t i = 0; i < length_; ++i) {
    if (row[static_cast<size_t>(i)] != row[0] + i / times) return;
  }
  kind_ = RowKind::kRepeats;
  times_ = times;
}

int64_t AxisCopy::joined(int64_t a, int64_t b) { return a == kFill || b == kFill ? kFill : a + b; }

void AxisCopy::run(const std::byte* input, std::byte* output, const std::byte* fill) const {
  const int64_t bytes = rows_ * length_ * unit_ * static_cast<int64_t>(element_);
  if (bytes == 0) return;
  in_ranges(rows_, bytes > kWorthThreads,
            [&](int64_t begin, int64_t end) { run_rows(begin, end, input, output, fill); });
}

void AxisCopy::run_rows(int64_t begin, int64_t end, const std::byte* input, std::byte* output,
                        const std::byte* fill) const {
  const size_t row_bytes = static_cast<size_t>(length_ * unit_) * element_;
  constexpr static int64_t kNoAxis[] = {0};
  const std::span<const int64_t> innermost =
      outer_.empty() ? std::span<const int64_t>(kNoAxis) : std::span<const int64_t>(outer_.back());
  const auto length = static_cast<int64_t>(innermost.size());
  std::byte* to = output + static_cast<size_t>(begin) * row_bytes;
  int64_t before = kFill - 1;
  int64_t inside = begin % length;
  int64_t outside = source_outside(begin / length);
  for (int64_t row = begin; row < end; ++row, to += row_bytes) {
    const int64_t from = joined(outside, innermost[static_cast<size_t>(inside)]);
    if (from == kFill) {
      fill_elements(to, length_ * unit_, fill, element_);
    } else if (from == before) {
      std::memcpy(to, to - row_bytes, row_bytes);
    } else {
      make_row(input + static_cast<size_t>(from) * element_, to, fill);
    }
    before = from;
    if (++inside < length) continue;
    inside = 0;
    outside = source_outside((row + 1) / length);
  }
}

int64_t AxisCopy::source_outside(int64_t rest) const {
  int64_t from = 0;
  for (size_t d = outer_.size(); d-- > 1;) {
    const std::vector<int64_t>& sources = outer_[d - 1];
    const auto length = static_cast<int64_t>(sources.size());
    from = joined(from, sources[static_cast<size_t>(rest % length)]);
    rest /= length;
  }
  return from;
}

void AxisCopy::make_row(const std::byte* from, std::byte* to, const std::byte* fill) const {
  if (kind_ == RowKind::kRepeats) {
    const auto n = static_cast<size_t>(length_ / times_);
    const std::byte* first = from + static_cast<size_t>(gather_[0]) * element_;
    constexpr void (*kRepeat[])(const void*, size_t, size_t, void*) = {repeat1, repeat2, repeat4, repeat8};
    const size_t kind = element_ == 1 ? 0 : element_ == 2 ? 1 : element_ == 4 ? 2 : 3;
    return kRepeat[kind](first, n, static_cast<size_t>(times_), to);
  }
  if (kind_ == RowKind::kGather) {
    switch (element_) {
      case 1: return gather<uint8_t>(from, gather_, to);
      case 2: return gather<uint16_t>(from, gather_, to);
      case 4:
        return gather4(reinterpret_cast<const uint32_t*>(from), gather_.data(),
                       reinterpret_cast<uint32_t*>(to), gather_.size());
      default: return gather<uint64_t>(from, gather_, to);
    }
  }
  const size_t unit = static_cast<size_t>(unit_) * element_;
  for (const Segment& segment : segments_) {
    std::byte* target = to + static_cast<size_t>(segment.to) * unit;
    if (segment.from == kFill) {
      fill_elements(target, segment.count * unit_, fill, element_);
    } else {
      std::memcpy(target, from + static_cast<size_t>(segment.from) * unit,
                  static_cast<size_t>(segment.count) * unit);
    }
  }
}

}  // namespace hone::device::cpu
