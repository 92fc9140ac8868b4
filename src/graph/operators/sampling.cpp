// Operator table entries of the convolution family: GridSample, AffineGrid, Col2Im and DeformConv.
#include <algorithm>

#include "graph/convolution_geometry.hpp"
#include "graph/operators/attribute_defs.hpp"
#include "graph/operators/convolution_rules.hpp"
#include "graph/operators/rules.hpp"
#include "graph/operators/type_rules.hpp"

namespace hone::graph {
namespace {

/// Grid [N, out..., r] over an input [N, C, in...] with r spatial axes.
void infer_grid_sample(InferenceContext& context) {
  require_floating(context, 1);
  require_choice(context, "mode", {"linear", "nearest", "cubic"});
  require_choice(context, "padding_mode", {"zeros", "border", "reflection"});
  context.require_rank(0, 3, 16);
  context.require_rank(1, 3, 16);
  if (!context.ranked(0) || !context.ranked(1)) {
    return context.set_output(0, context.dtype(0), std::nullopt);
  }
  const Dims& x = context.dims(0);
  const Dims& grid = context.dims(1);
  const auto spatial = static_cast<int64_t>(x.size()) - 2;
  context.require(grid.size() == x.size() && (!grid.back().known() || grid.back().is(spatial)),
                  "input 1 has shape {}, expected rank {} with {} coordinates", dims_text(grid), x.size(),
                  spatial);
  context.require(!x[0].known() || !grid[0].known() || x[0].same_as(grid[0]),
                  "inputs 0 and 1 have batches of {} and {}", x[0].text(), grid[0].text());
  Dims dims{x[0].known() ? x[0] : grid[0], x[1]};
  dims.insert(dims.end(), grid.begin() + 1, grid.end() - 1);
  context.set_output(0, context.dtype(0), std::move(dims));
}

/// theta [N, r, r + 1] and size (N, C, spatial...) give [N, spatial..., r] for r = 2 or 3.
void infer_affine_grid(InferenceContext& context) {
  require_floating(context, 0);
  require_dtype(context, 1, {DType::kInt64});
  context.require_rank(0, 3, 3);
  const auto size = context.data(1);
  if (!size) return context.set_output(0, context.dtype(0), std::nullopt);
  context.require(size->size() == 4 || size->size() == 5, "input 1 has {} elements, expected 4 or 5",
                  size->size());
  const auto axes = static_cast<int64_t>(size->size()) - 2;
  for (const Dim& dim : *size) {
    context.require(!dim.known() || dim.value() >= 1, "input 1 holds the size {}", dim.text());
  }
  if (context.ranked(0)) {
    const Dims& theta = context.dims(0);
    const bool fits = (!theta[1].known() || theta[1].is(axes)) &&
                      (!theta[2].known() || theta[2].is(axes + 1)) &&
                      (!theta[0].known() || !(*size)[0].known() || theta[0].same_as((*size)[0]));
    context.require(fits, "input 0 has shape {}, expected {}x{}x{}", dims_text(theta), (*size)[0].text(),
                    axes, axes + 1);
  }
  Dims dims{(*size)[0]};
  dims.insert(dims.end(), size->begin() + 2, size->end());
  dims.push_back(axes);
  context.set_output(0, context.dtype(0), std::move(dims));
}

/// Columns [N, C * block, L] become an image [N, C, image_shape...].
void infer_col2im(InferenceContext& context) {
  require_dtype(context, 1, {DType::kInt64});
  require_dtype(context, 2, {DType::kInt64});
  context.require_rank(0, 3, 3);
  const auto image = context.data(1);
  const auto block = context.known_data(2);
  if (!image) return context.set_output(0, context.dtype(0), std::nullopt);
  context.require(!block || block->size() == image->size(), "inputs 1 and 2 have {} and {} elements",
                  image->size(), block ? block->size() : 0);
  Dims dims(image->size() + 2);
  if (context.ranked(0)) dims[0] = context.dims(0)[0];
  if (block) {
    const Window window = read_window(context.attributes(), *block);
    Dim elements = 1;
    Dim blocks = 1;
    for (size_t i = 0; i < window.rank(); ++i) {
      elements = elements * Dim(window.kernel[i]);
      blocks = blocks * window_output(window, i, (*image)[i]);
    }
    if (context.ranked(0)) {
      const Dims& columns = context.dims(0);
      context.require(!columns[1].known() || columns[1].value() % elements.value() == 0,
                      "input 0 has {} rows, no multiple of a block of {}", columns[1].text(),
                      elements.text());
      context.require(!columns[2].known() || !blocks.known() || columns[2].same_as(blocks),
                      "input 0 has {} columns, expected {} blocks", columns[2].text(), blocks.text());
      dims[1] = columns[1] / elements;
    }
  }
  std::copy(image->begin(), image->end(), dims.begin() + 2);
  context.set_output(0, context.dtype(0), std::move(dims));
}

/// Inputs: x, w, offset, bias, mask.
void infer_deform_conv(InferenceContext& context) {
  require_floating(context, 0);
  for (size_t i = 1; i < context.input_count(); ++i) require_same_dtype(context, 0, i);
  const auto dims = convolution_output(context, 0, 1);
  const int64_t groups = context.attributes().get_int("offset_group");
  context.require(groups >= 1, "attribute 'offset_group' is {}, expected at least 1", groups);
  if (context.ranked(0)) {
    const Dim& channels = context.dims(0)[1];
    context.require(!channels.known() || channels.value() % groups == 0,
                    "{} channels do not divide into {} offset groups", channels.text(), groups);
  }
  if (dims) {
    check_channel_vector(context, 3, (*dims)[1]);
    if (const auto kernel = kernel_sizes(context.attributes(), context.input(1).dims)) {
      Dim taps = groups;
      for (const int64_t size : *kernel) taps = taps * Dim(size);
      Dims expected = *dims;
      expected[1] = taps * Dim(static_cast<int64_t>(kernel->size()));
      expect_dims(context, 2, expected);
      expected[1] = taps;
      expect_dims(context, 4, expected);
    }
  }
  context.set_output(0, context.dtype(0), dims);
}

std::vector<AttributeDef> window_attributes() {
  return {optional_attribute("dilations", AttributeKind::kInts),
          optional_attribute("pads", AttributeKind::kInts),
          optional_attribute("strides", AttributeKind::kInts)};
}

}  // namespace

void add_sampling_operators(std::vector<OperatorDef>& table) {
  table.push_back({.name = "GridSample",
                   .since_version = 22,
                   .min_inputs = 2,
                   .max_inputs = 2,
                   .attributes = {int_attribute("align_corners", 0), string_attribute("mode", "linear"),
                                  string_attribute("padding_mode", "zeros")},
                   .infer = infer_grid_sample,
                   .traits = {.first_place_input = 1}});
  table.push_back({.name = "AffineGrid",
                   .since_version = 20,
                   .min_inputs = 2,
                   .max_inputs = 2,
                   .attributes = {int_attribute("align_corners", 0)},
                   .infer = infer_affine_grid});
  table.push_back({.name = "Col2Im",
                   .since_version = 18,
                   .min_inputs = 3,
                   .max_inputs = 3,
                   .attributes = window_attributes(),
                   .infer = infer_col2im});
  auto deform = window_attributes();
  deform.push_back(int_attribute("group", 1));
  deform.push_back(optional_attribute("kernel_shape", AttributeKind::kInts));
  deform.push_back(int_attribute("offset_group", 1));
  table.push_back(
      {.name = "DeformConv",
       .since_version = 22,
       .min_inputs = 3,
       .max_inputs = 5,
       .attributes = std::move(deform),
       .infer = infer_deform_conv,
       .flops = [](const Graph& graph, const Node& node) { return convolution_flops(graph, node, 1, 3); },
       .traits = {.sums_products = true}});
}

}  // namespace hone::graph
