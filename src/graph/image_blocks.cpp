// See image_blocks.hpp.
#include "graph/image_blocks.hpp"

namespace hone::graph {
namespace {

struct Part {
  int64_t size;
  int64_t stride;
};

/// Distances between neighbours along each axis of an image.
struct Steps {
  Steps(std::span<const int64_t> x, bool channels_last)
      : batch(x[1] * x[2] * x[3]),
        channel(channels_last ? 1 : x[2] * x[3]),
        row(channels_last ? x[1] * x[3] : x[3]),
        column(channels_last ? x[1] : 1) {}

  int64_t batch;
  int64_t channel;
  int64_t row;
  int64_t column;
};

ImageBlocks joined(std::initializer_list<Part> parts) {
  ImageBlocks blocks;
  for (const Part& part : parts) {
    blocks.sizes.push_back(part.size);
    blocks.strides.push_back(part.stride);
  }
  return blocks;
}

}  // namespace

ImageBlocks depth_to_space_blocks(const Attributes& attributes, std::span<const int64_t> x,
                                  bool channels_last) {
  const int64_t size = attributes.get_int("blocksize");
  const bool columns_first = attributes.get_string("mode") == "CRD";
  const int64_t channels = x[1] / (size * size);
  const Steps step(x, channels_last);
  const Part n{x[0], step.batch};
  const Part c{channels, (columns_first ? size * size : 1) * step.channel};
  const Part height{x[2], step.row};
  const Part width{x[3], step.column};
  const int64_t pixel = (columns_first ? 1 : channels) * step.channel;
  const Part row{size, size * pixel};
  const Part column{size, pixel};
  return channels_last ? joined({n, height, row, width, column, c})
                       : joined({n, c, height, row, width, column});
}

ImageBlocks space_to_depth_blocks(const Attributes& attributes, std::span<const int64_t> x,
                                  bool channels_last) {
  const int64_t size = attributes.get_int("blocksize");
  const Steps step(x, channels_last);
  const Part n{x[0], step.batch};
  const Part c{x[1], step.channel};
  const Part height{x[2] / size, size * step.row};
  const Part width{x[3] / size, size * step.column};
  const Part row{size, step.row};
  const Part column{size, step.column};
  return channels_last ? joined({n, height, width, row, column, c})
                       : joined({n, row, column, c, height, width});
}

}  // namespace hone::graph
