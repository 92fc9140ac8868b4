// Copies of tensors in which each output index of an axis names an input index of that axis, or none: slices,
// padding, repetition, nearest neighbours.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "engine/kernel.hpp"

namespace hone::device::cpu {

/// Stands for an output position with the filling value instead of a position of the input.
inline constexpr int64_t kFill = -1;

/// For each axis of the output, the position on the input's axis that every position shows.
using AxisSources = std::vector<std::vector<int64_t>>;

/// The sources of an axis that is copied as it is: 0, 1, …, length - 1.
std::vector<int64_t> counting(int64_t length);

/// The sources of the axes that lie in memory, outermost first, and the input's lengths.
struct MemoryAxes {
  AxisSources sources;
  engine::Shape input;
};

/// The axes as both tensors lie in that layout; nullopt where channels would be moved between or within
/// blocks of channels. `input`: of the output's rank.
std::optional<MemoryAxes> memory_axes(const AxisSources& sources, const engine::Shape& input,
                                      engine::Layout layout);

/// One output of a kernel.
class AxisCopy {
 public:
  /// Elements of that many bytes: 1, 2, 4 or 8.
  AxisCopy(const MemoryAxes& axes, size_t element);
  /// `fill`: one element; null where nothing is filled.
  void run(const std::byte* input, std::byte* output, const std::byte* fill) const;

 private:
  /// Neighbouring positions of a row whose sources are neighbours, too, or are filled.
  struct Segment {
    int64_t to;
    int64_t count;
    int64_t from;
  };
  /// How a row is made of its source.
  enum class RowKind : uint8_t { kSegments, kRepeats, kGather };

  void run_rows(int64_t begin, int64_t end, const std::byte* input, std::byte* output,
                const std::byte* fill) const;
  /// The element offset of both, or kFill where one is filled.
  static int64_t joined(int64_t a, int64_t b);
  /// The amount that the outer axes but the innermost of them add to the offset of a row's source, `rest`
  /// being their position counted through.
  int64_t source_outside(int64_t rest) const;
  void make_row(const std::byte* from, std::byte* to, const std::byte* fill) const;

  size_t element_;
  /// Elements that stay together: product of the innermost axes that are copied whole.
  int64_t unit_ = 1;
  /// Positions of a row, in units.
  int64_t length_ = 1;
  RowKind kind_ = RowKind::kSegments;
  std::vector<Segment> segments_;
  /// kRepeats: each element `times_` times; kGather: the element at each position.
  int64_t times_ = 1;
  std::vector<int32_t> gather_;
  /// Element offsets of the sources along the outer axes.
  AxisSources outer_;
  int64_t rows_ = 1;
};

}  // namespace hone::device::cpu
