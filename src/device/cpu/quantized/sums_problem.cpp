// See sums_problem.hpp.
#include "device/cpu/quantized/sums_problem.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "graph/matmul_geometry.hpp"

namespace hone::device::cpu {

using engine::Layout;
using engine::StepRequest;
using graph::Range;
using graph::WindowAxis;

bool SumsProblem::is_depthwise() const {
  return is_convolution && layout == Layout::kChannelsLast && convolution.group > 1 &&
         convolution.group_inputs() == 1 && columns == 1;
}

void SumsProblem::pack(const void* from, std::byte* to) const {
  const int64_t taps = is_convolution ? convolution.kernel_size() : 1;
  ByteMatrix matrix{from, b_type, inner, columns, 1, inner, 0, columns};
  if (is_convolution) {
    matrix.column_stride = inner;
    matrix.run = convolution.group_inputs();
    matrix.run_stride = 1;
    matrix.stride = taps;
  }
  const int64_t all = b_matrices * panels();
#pragma omp parallel for schedule(static) if (all > 1 && all * inner > 16384)
  for (int64_t i = 0; i < all; ++i) {
    ByteMatrix one = matrix;
    one.data = static_cast<const uint8_t*>(from) + i / panels() * columns * inner;
    auto* const panel = reinterpret_cast<uint32_t*>(to) + i * units() * kTileColumns;
    auto* const sums = reinterpret_cast<int32_t*>(to) + (all * units() + i) * kTileColumns;
    pack_byte_panel(form, one, i % panels() * kTileColumns, panel, sums);
  }
}

const uint32_t* SumsProblem::panel(const std::byte* packed, int64_t matrix, int64_t panel) const {
  return reinterpret_cast<const uint32_t*>(packed) + (matrix * panels() + panel) * units() * kTileColumns;
}

const int32_t* SumsProblem::column_sums(const std::byte* packed, int64_t matrix) const {
  const int64_t before = b_matrices * panels() * units() + matrix * panels();
  return reinterpret_cast<const int32_t*>(packed) + before * kTileColumns;
}

std::string SumsProblem::form_word() const {
  return fmt::format("{}:{}x{}x{}-by-{}", form == TileType::kBytes ? "tiles-of-bytes" : "tiles-of-shorts",
                     b_matrices, columns, inner, is_convolution ? convolution.group_inputs() : inner);
}

void SumsProblem::copy_row(const void* a, const ByteRows& rows_form, int64_t stack, int64_t row, Range part,
                           uint32_t* to) const {
  const auto* const bytes = static_cast<const uint8_t*>(a);
  if (is_convolution) return copy_window(bytes, rows_form, stack, row, part, to);
  const int64_t first = (a_matrix[static_cast<size_t>(stack)] * rows + row) * inner;
  rows_form.copy(bytes + first + part.begin, 1, part.size(), rows_form.at(to, 0));
}

void SumsProblem::copy_window(const uint8_t* a, const ByteRows& rows_form, int64_t stack, int64_t pixel,
                              Range part, uint32_t* to) const {
  const int64_t channels = convolution.group_inputs();
  const int64_t image = a_matrix[static_cast<size_t>(stack)];
  const int64_t channel = b_matrix[static_cast<size_t>(stack)] * channels;
  const bool is_last = layout == Layout::kChannelsLast;
  // Strides from one pixel and channel to the next.
  const int64_t pixel_stride = is_last ? convolution.in_channels : 1;
  const int64_t channel_stride = is_last ? 1 : lines() * last().input;
  const uint8_t* const first =
      a + image * convolution.in_channels * lines() * last().input + channel * channel_stride;
  for_each_line(pixel, [&](const Line& line) {
    const int64_t before = line.first_tap * channels;
    const Range wanted = {std::max(part.begin - before, int64_t{0}),
                          std::min(part.end - before, line.taps * channels)};
    if (wanted.begin >= wanted.end) return;
    const auto at = [&](int64_t element) { return rows_form.at(to, before + element - part.begin); };
    // The elements of pixels that the image has.
    Range inside = {wanted.end, wanted.end};
    if (line.is_inside) {
      const int64_t begin = std::max<int64_t>(-line.x, 0) * channels;
      const int64_t end = std::max<int64_t>(last().input - line.x, 0) * channels;
      inside.begin = std::clamp(begin, wanted.begin, wanted.end);
      inside.end = std::clamp(end, inside.begin, wanted.end);
    }
    rows_form.fill(inside.begin - wanted.begin, at(wanted.begin));
    if (inside.end > inside.begin) {
      const int64_t from = (line.index * last().input + line.x + inside.begin / channels) * pixel_stride +
                           inside.begin % channels * channel_stride;
      rows_form.copy(first + from, channel_stride, inside.end - inside.begin, at(inside.begin));
    }
    rows_form.fill(wanted.end - inside.end, at(inside.end));
  });
}

namespace {

void set_types(const StepRequest& request, const BytePositions& at, SumsProblem& problem) {
  problem.a_type = request.inputs[at.a].dtype;
  problem.b_type = request.inputs[at.b].dtype;
  problem.form = byte_tile_type();
  if (request.node.has_input(at.b_zero))
    problem.b_zeros = tensor::element_count(request.inputs[at.b_zero].shape);
}

}  // namespace

SumsProblem convolution_sums(const StepRequest& request, const BytePositions& at) {
  SumsProblem problem;
  problem.is_convolution = true;
  const engine::Shape& shape = request.inputs[at.a].shape;
  const graph::Convolution& geometry = problem.convolution =
      graph::read_convolution(request.node.attributes, shape, request.inputs[at.b].shape);
  problem.layout = engine::layout_for_shape(Layout::kChannelsLast, shape);
  problem.axes.fill({1, 1});
  std::ranges::copy(geometry.axes, problem.axes.end() - std::ssize(geometry.axes));
  problem.b_matrices = geometry.group;
  for (int64_t image = 0; image < geometry.batch; ++image) {
    for (int64_t group = 0; group < geometry.group; ++group) {
      problem.a_matrix.push_back(image);
      problem.b_matrix.push_back(group);
    }
  }
  problem.rows = 1;
  for (const WindowAxis& axis : geometry.axes) problem.rows *= axis.output;
  problem.inner = geometry.group_inputs() * geometry.kernel_size();
  problem.columns = geometry.group_outputs();
  set_types(request, at, problem);
  return problem;
}

SumsProblem matrix_sums(const StepRequest& request, const BytePositions& at) {
  const graph::MatMulGeometry geometry =
      graph::read_matmul(request.inputs[at.a].shape, request.inputs[at.b].shape);
  SumsProblem problem;
  problem.a_matrix = geometry.a_matrix;
  problem.b_matrix = geometry.b_matrix;
  problem.rows = geometry.rows;
  problem.inner = geometry.inner;
  problem.columns = geometry.columns;
  problem.b_matrices = tensor::element_count(request.inputs[at.b].shape) /
                       std::max<int64_t>(1, geometry.inner * geometry.columns);
  set_types(request, at, problem);
  return problem;
}

}  // namespace hone::device::cpu
