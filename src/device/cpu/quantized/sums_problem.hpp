// The products that a convolution or a matrix product of bytes sums: stacks of rows x inner times
// inner x columns, and where their elements are. Rows of a convolution are the windows of its output pixels,
// its inner dimension goes tap by tap, and channel by channel at each.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "device/cpu/quantized/byte_operands.hpp"
#include "device/cpu/quantized/operands.hpp"
#include "engine/kernel.hpp"
#include "graph/convolution_geometry.hpp"

namespace hone::device::cpu {

struct SumsProblem {
  bool is_convolution = false;
  graph::Convolution convolution;
  /// Three axes, the missing ones first.
  std::array<graph::WindowAxis, 3> axes;
  /// Images and the result have it.
  engine::Layout layout = engine::Layout::kPlain;
  /// For each stack, the index of its operands' matrices: of a convolution, the image and the group.
  std::vector<int64_t> a_matrix;
  std::vector<int64_t> b_matrix;
  int64_t b_matrices = 0;
  int64_t rows = 0;
  int64_t inner = 0;
  int64_t columns = 0;
  tensor::DType a_type = tensor::DType::kUInt8;
  tensor::DType b_type = tensor::DType::kInt8;
  TileType form = TileType::kShorts;
  /// Zero points of the second operand: one, or one a column.
  int64_t b_zeros = 1;

  int64_t stacks() const { return static_cast<int64_t>(a_matrix.size()); }
  int64_t multiplications() const { return stacks() * rows * inner * columns; }
  /// All groups together.
  int64_t all_columns() const { return is_convolution ? convolution.out_channels : columns; }
  bool is_depthwise() const;

  /// The second operand packed: matrix by matrix its panels, then the sums of all columns.
  int64_t panels() const { return parts_of(columns, kTileColumns); }
  int64_t units() const { return parts_of(inner, bytes_per_unit(form)); }
  int64_t packed_bytes() const { return 4 * b_matrices * panels() * kTileColumns * (units() + 1); }
  void pack(const void* from, std::byte* to) const;
  const uint32_t* panel(const std::byte* packed, int64_t matrix, int64_t panel) const;
  const int32_t* column_sums(const std::byte* packed, int64_t matrix) const;
  /// The name of the packed form.
  std::string form_word() const;

  /// Elements [inner.begin, inner.end) of a row of a stack of the first operand.
  void copy_row(const void* a, const ByteRows& form, int64_t stack, int64_t row, graph::Range inner,
                uint32_t* to) const;

  /// Taps of a window that lie next to each other in the image.
  struct Line {
    bool is_inside;  ///< whether the image has that line; its first and last pixels may still be padding
    int64_t index;   ///< of the line in the image
    int64_t x;       ///< of the first tap
    int64_t first_tap;
    int64_t taps;
  };
  const graph::WindowAxis& last() const { return axes[2]; }
  /// Lines of an image.
  int64_t lines() const { return axes[0].input * axes[1].input; }
  /// Calls f(line) for the lines of the window of an output pixel.
  template <class F>
  void for_each_line(int64_t pixel, F&& f) const {
    const std::array<int64_t, 3> at = {pixel / (axes[1].output * axes[2].output),
                                       pixel / axes[2].output % axes[1].output, pixel % axes[2].output};
    const int64_t taps = joins_taps() ? axes[2].kernel : 1;
    int64_t tap = 0;
    for (int64_t i = 0; i < axes[0].kernel; ++i) {
      const int64_t z = axes[0].position(at[0], i);
      for (int64_t j = 0; j < axes[1].kernel; ++j) {
        const int64_t y = axes[1].position(at[1], j);
        const bool is_inside = z >= 0 && z < axes[0].input && y >= 0 && y < axes[1].input;
        for (int64_t k = 0; k < axes[2].kernel; k += taps, tap += taps)
          f(Line{is_inside, z * axes[1].input + y, axes[2].position(at[2], k), tap, taps});
      }
    }
  }

  /// Where the results of a stack begin, in rows of all stacks.
  int64_t result_row(int64_t stack) const {
    return (is_convolution ? a_matrix[static_cast<size_t>(stack)] : stack) * rows;
  }
  /// Where a column of all groups is in a row of all stacks, and how far the next column is from it.
  int64_t result_at(int64_t row, int64_t column) const {
    if (result_stride() == 1) return row * all_columns() + column;
    return (row / rows * all_columns() + column) * rows + row % rows;
  }
  int64_t result_stride() const { return is_convolution && layout == engine::Layout::kPlain ? rows : 1; }

 private:
  bool joins_taps() const {
    return axes[2].dilation == 1 && layout == engine::Layout::kChannelsLast &&
           (convolution.group == 1 || is_depthwise());
  }
  void copy_window(const uint8_t* a, const ByteRows& form, int64_t stack, int64_t pixel, graph::Range inner,
                   uint32_t* to) const;
};

/// The problem of ConvInteger or QLinearConv, and of MatMulInteger or QLinearMatMul.
SumsProblem convolution_sums(const engine::StepRequest& request, const BytePositions& at);
SumsProblem matrix_sums(const engine::StepRequest& request, const BytePositions& at);

}  // namespace hone::device::cpu
