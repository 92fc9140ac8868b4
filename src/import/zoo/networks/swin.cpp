// Swin-T (Liu et al. 2021): attention within windows, shifted in every second block.
#include <array>
#include <cmath>
#include <utility>

#include "import/zoo/architectures.hpp"
#include "import/zoo/transformer.hpp"

namespace hone::importer {
namespace {

struct Stage {
  int64_t depth;
  int64_t heads;
};

constexpr Stage kStages[] = {{2, 3}, {2, 6}, {6, 12}, {2, 24}};
constexpr int64_t kChannels = 96;
constexpr int64_t kPatch = 4;
constexpr int64_t kWindow = 7;
constexpr int64_t kTokens = kWindow * kWindow;
constexpr float kEpsilon = 1e-5f;
/// Gain of the packed projection: scores get a deviation of about 2.
constexpr float kScoreGain = 1.4f;
/// Gain of layers whose results are added to their input.
constexpr float kBranchGain = 0.4f;
/// Standard deviation of the score biases, which depend on distance.
constexpr float kDistanceDeviation = 0.5f;
/// The number that torchvision adds to the scores of tokens that were not neighbours before the shift.
constexpr float kApart = -100.0f;

/// A tensor [batch, height, width, channels] whose last three dimensions are known.
struct Grid {
  int64_t side;
  int64_t channels;
};

Grid grid_of(const GraphBuilder& net, ValueId x) { return {net.dim(x, 1), net.dim(x, 3)}; }

/// Moves rows and columns by `shift` towards the beginning; the first ones wrap around to the end.
ValueId roll(GraphBuilder& net, const std::string& name, ValueId x, int64_t shift) {
  for (const int64_t axis : {1, 2}) {
    const std::string step = fmt::format("{}.{}", name, axis);
    const int64_t size = net.dim(x, axis);
    const ValueId cut = ints(net, step + ".cut", {(shift + size) % size});
    const ValueId first = slice(net, step + ".first", x, ints(net, step + ".zero", {0}), cut, axis);
    const ValueId rest = slice(net, step + ".rest", x, cut, ints(net, step + ".size", {size}), axis);
    graph::Attributes along;
    along.set("axis", axis);
    x = net.node("Concat", step, {rest, first}, along);
  }
  return x;
}

/// [batch * windows, tokens, channels].
ValueId partition(GraphBuilder& net, const std::string& name, ValueId x) {
  const auto [side, channels] = grid_of(net, x);
  const int64_t windows = side / kWindow;
  x = reshape(net, name + ".cut", x, {0, windows, kWindow, windows, kWindow, channels});
  x = transpose(net, name + ".sort", x, {0, 1, 3, 2, 4, 5});
  return reshape(net, name, x, {-1, kTokens, channels});
}

ValueId join(GraphBuilder& net, const std::string& name, ValueId x, const Grid& grid) {
  const int64_t windows = grid.side / kWindow;
  x = reshape(net, name + ".cut", x, {-1, windows, windows, kWindow, kWindow, grid.channels});
  x = transpose(net, name + ".sort", x, {0, 1, 3, 2, 4, 5});
  return reshape(net, name, x, {-1, grid.side, grid.side, grid.channels});
}

/// For each pair of tokens in a window, the row of the bias table, which encodes their distance in rows and
/// columns.
ValueId distances(GraphBuilder& net, const std::string& name) {
  std::vector<int64_t> rows;
  for (int64_t a = 0; a < kTokens; ++a) {
    for (int64_t b = 0; b < kTokens; ++b) {
      const int64_t down = a / kWindow - b / kWindow + kWindow - 1;
      const int64_t right = a % kWindow - b % kWindow + kWindow - 1;
      rows.push_back(down * (2 * kWindow - 1) + right);
    }
  }
  return ints(net, name, rows);
}

/// [1, heads, tokens, tokens].
ValueId distance_bias(GraphBuilder& net, const std::string& name, int64_t heads) {
  constexpr int64_t kRows = (2 * kWindow - 1) * (2 * kWindow - 1);
  const ValueId table = net.parameter(
      {name + ".relative_position_bias_table", {kRows, heads}, Role::kEmbedding, kDistanceDeviation});
  const ValueId rows = net.node("Gather", name + ".bias_rows", {table, distances(net, name + ".distances")});
  const ValueId square = reshape(net, name + ".bias_square", rows, {1, kTokens, kTokens, heads});
  return transpose(net, name + ".bias", square, {0, 3, 1, 2});
}

/// [1, windows, 1, tokens, tokens]: kApart for two tokens of a window that come from opposite sides of the
/// grid, 0 for others.
ValueId shift_mask(GraphBuilder& net, const std::string& name, int64_t side, int64_t shift) {
  const int64_t windows = side / kWindow;
  const auto part = [&](int64_t at) { return at < side - kWindow ? 0 : at < side - shift ? 1 : 2; };
  tensor::Tensor mask(tensor::DType::kFloat32, {1, windows * windows, 1, kTokens, kTokens});
  const auto values = mask.mutable_values<float>();
  size_t next = 0;
  for (int64_t window = 0; window < windows * windows; ++window) {
    const auto region = [&](int64_t token) {
      const int64_t row = window / windows * kWindow + token / kWindow;
      const int64_t column = window % windows * kWindow + token % kWindow;
      return 3 * part(row) + part(column);
    };
    for (int64_t a = 0; a < kTokens; ++a) {
      for (int64_t b = 0; b < kTokens; ++b) values[next++] = region(a) == region(b) ? 0.0f : kApart;
    }
  }
  return net.constant(name, std::move(mask));
}

/// x is [batch, side, side, channels].
ValueId attention(GraphBuilder& net, const std::string& name, ValueId x, int64_t heads, int64_t shift) {
  const Grid grid = grid_of(net, x);
  const int64_t depth = grid.channels / heads;
  if (shift > 0) x = roll(net, name + ".roll", x, shift);
  x = partition(net, name + ".partition", x);
  x = dense(net, name + ".qkv", x, {.features = 3 * grid.channels, .gain = kScoreGain});
  x = reshape(net, name + ".parts", x, {0, kTokens, 3, heads, depth});
  x = transpose(net, name + ".by_part", x, {2, 0, 3, 1, 4});
  const auto part = [&](const char* which, int64_t index) {
    const ValueId at = net.constant(fmt::format("{}.{}.index", name, which), tensor::Tensor::scalar(index));
    return net.node("Gather", fmt::format("{}.{}", name, which), {x, at});
  };
  const float factor = 1 / std::sqrt(static_cast<float>(depth));
  const ValueId q = net.multiply(name + ".scaled", part("query", 0), scalar(net, name + ".scale", factor));
  const ValueId k = transpose(net, name + ".keys", part("key", 1), {0, 1, 3, 2});
  ValueId scores = net.add(name + ".scores", net.node("MatMul", name + ".products", {q, k}),
                           distance_bias(net, name, heads));
  if (shift > 0) {
    const int64_t windows = grid.side / kWindow * (grid.side / kWindow);
    scores = reshape(net, name + ".by_window", scores, {-1, windows, heads, kTokens, kTokens});
    scores = net.add(name + ".masked", scores, shift_mask(net, name + ".mask", grid.side, shift));
    scores = reshape(net, name + ".by_image", scores, {-1, heads, kTokens, kTokens});
  }
  const ValueId shares = net.node("Softmax", name + ".softmax", {scores});
  x = net.node("MatMul", name + ".context", {shares, part("value", 2)});
  x = reshape(net, name + ".rows", transpose(net, name + ".by_row", x, {0, 2, 1, 3}),
              {0, kTokens, grid.channels});
  x = dense(net, name + ".proj", x, {.features = grid.channels, .gain = kBranchGain});
  x = join(net, name + ".join", x, grid);
  return shift > 0 ? roll(net, name + ".unroll", x, -shift) : x;
}

ValueId block(GraphBuilder& net, const std::string& root, ValueId x, int64_t heads, int64_t index) {
  const Grid grid = grid_of(net, x);
  // If a window covers the whole grid, there is no shift.
  const int64_t shift = index % 2 == 1 && grid.side > kWindow ? kWindow / 2 : 0;
  ValueId y = layer_norm(net, root + ".norm1", x, kEpsilon);
  x = net.add(root + ".add_1", x, attention(net, root + ".attn", y, heads, shift));
  y = dense(net, root + ".mlp.0", layer_norm(net, root + ".norm2", x, kEpsilon),
            {.features = 4 * grid.channels});
  y = dense(net, root + ".mlp.3", gelu(net, root + ".mlp.1", y),
            {.features = grid.channels, .gain = kBranchGain});
  return net.add(root + ".add_2", x, y);
}

/// Merges four neighbours into one token with twice the number of channels.
ValueId merge(GraphBuilder& net, const std::string& root, ValueId x) {
  const Grid grid = grid_of(net, x);
  std::vector<ValueId> parts;
  for (const auto& [row, column] : {std::pair{0, 0}, {1, 0}, {0, 1}, {1, 1}}) {
    const std::string name = fmt::format("{}.part.{}", root, parts.size());
    const std::vector<ValueId> inputs{x, ints(net, name + ".starts", {row, column}),
                                      ints(net, name + ".ends", {grid.side, grid.side}),
                                      ints(net, name + ".axes", {1, 2}), ints(net, name + ".steps", {2, 2})};
    parts.push_back(net.node("Slice", name, inputs));
  }
  graph::Attributes along;
  along.set("axis", int64_t{-1});
  x = layer_norm(net, root + ".norm", net.node("Concat", root + ".parts", std::move(parts), along), kEpsilon);
  return dense(net, root + ".reduction", x, {.features = 2 * grid.channels, .bias = false});
}

}  // namespace

ValueId build_swin_t(GraphBuilder& net) {
  ValueId x = net.conv(
      "features.0.0", net.input(),
      {.channels = kChannels, .kernel = kPatch, .stride = kPatch, .bias = true, .gain = kLinearGain});
  x = layer_norm(net, "features.0.2", transpose(net, "features.0.1", x, {0, 2, 3, 1}), kEpsilon);
  int64_t index = 1;
  for (const Stage& stage : kStages) {
    if (index > 1) x = merge(net, fmt::format("features.{}", index++), x);
    for (int64_t i = 0; i < stage.depth; ++i)
      x = block(net, fmt::format("features.{}.{}", index, i), x, stage.heads, i);
    ++index;
  }
  x = transpose(net, "permute", layer_norm(net, "norm", x, kEpsilon), {0, 3, 1, 2});
  x = net.flatten("flatten", net.global_average_pool("avgpool", x));
  return dense(net, "head", x, {.features = 1000});
}

}  // namespace hone::importer
