// Sections that only rearrange or rescale their input: reorg, crop, softmax, lrn, activation, dropout, cost,
// silence; and implicit, which has its own numbers and no input.
#include "base/error.hpp"
#include "import/darknet/activation.hpp"
#include "import/darknet/limits.hpp"
#include "import/darknet/network.hpp"

namespace hone::importer::darknet {
namespace {

void keep_shape(Layer* layer) { set_out(layer, layer->in.channels, layer->in.height, layer->in.width); }

void pass_on(Layer* layer) {
  keep_shape(layer);
  layer->emit = [](Emission& e) { return e.x; };
}

void read_silence(SectionContext& /*context*/, Layer* layer) { pass_on(layer); }

void read_cost(SectionContext& /*context*/, Layer* layer) {
  pass_on(layer);
  layer->is_cost = true;
}

void read_activation(SectionContext& context, Layer* layer) {
  keep_shape(layer);
  layer->emit = [activation = activation_of(context, "linear")](Emission& e) {
    return activated(e, e.x, activation);
  };
}

int64_t block_of(SectionContext& context, const Layer& layer) {
  require_image(layer);
  const int stride = context.options.integer("stride", 1);
  require_between("stride", stride, 1, kMaxSize);
  return stride;
}

void require_divisible(std::string_view what, int64_t value, int64_t by) {
  if (value % by != 0) fail_bad_input("{} of {} cannot be divided by {}", what, value, by);
}

/// Moves the pixels of blocks to channels: [C, H s, W s] to [s s C, H, W]. The memory of x is reinterpreted
/// in this shape.
ValueId blocks_to_channels(Emission& e, const Volume& in, int64_t s, const Volume& out) {
  const ValueId split = e.reshape("split", e.x, {0, in.channels, in.height / s, s, in.width / s, s});
  graph::Attributes attributes;
  attributes.set("perm", std::vector<int64_t>{0, 3, 5, 1, 2, 4});
  const ValueId turned = e.net.node("Transpose", e.part("turned"), {split}, std::move(attributes));
  return e.reshape("joined", turned, {0, out.channels, out.height, out.width});
}

ValueId channels_to_blocks(Emission& e, ValueId x, int64_t s) {
  graph::Attributes attributes;
  attributes.set("blocksize", s);
  return e.net.node("DepthToSpace", e.part("blocks"), {x}, std::move(attributes));
}

/// [reorg] interprets the memory of its input as an image with s * s times fewer channels that is s times as
/// high and wide.
void read_reorg(SectionContext& context, Layer* layer) {
  const int64_t s = block_of(context, *layer);
  const Volume in = layer->in;
  require_divisible("channels", in.channels, s * s);
  if (context.options.integer("reverse", 0) != 0) {
    set_out(layer, in.channels / (s * s), in.height * s, in.width * s);
    layer->emit = [s](Emission& e) { return channels_to_blocks(e, e.x, s); };
    return;
  }
  require_divisible("a height", in.height, s);
  require_divisible("a width", in.width, s);
  set_out(layer, in.channels * s * s, in.height / s, in.width / s);
  const Volume taken{in.channels / (s * s), in.height * s, in.width * s};
  layer->emit = [taken, s, out = layer->out](Emission& e) { return blocks_to_channels(e, taken, s, out); };
}

/// [reorg3d] is space to depth; its reverse interprets its input in the same way as [reorg].
void read_reorg3d(SectionContext& context, Layer* layer) {
  const int64_t s = block_of(context, *layer);
  const Volume in = layer->in;
  if (context.options.integer("reverse", 0) != 0) {
    require_divisible("channels", in.channels, s * s);
    const Volume taken{in.channels / (s * s), in.height * s, in.width * s};
    require_divisible("channels", taken.channels, s * s);
    set_out(layer, taken.channels, taken.height, taken.width);
    layer->emit = [taken, s](Emission& e) {
      const ValueId image = e.reshape("taken", e.x, {0, taken.channels, taken.height, taken.width});
      return e.reshape("joined", channels_to_blocks(e, image, s),
                       {0, taken.channels, taken.height, taken.width});
    };
    return;
  }
  require_divisible("a height", in.height, s);
  require_divisible("a width", in.width, s);
  set_out(layer, in.channels * s * s, in.height / s, in.width / s);
  layer->emit = [in, s, out = layer->out](Emission& e) { return blocks_to_channels(e, in, s, out); };
}

struct Crop {
  int64_t top;
  int64_t left;
  int64_t height;
  int64_t width;
  bool adjusts;

  ValueId write(Emission& e) const {
    const ValueId part = e.net.node("Slice", e.part("crop"),
                                    {e.x, e.ints("begin", {top, left}),
                                     e.ints("end", {top + height, left + width}), e.ints("axes", {2, 3})});
    if (!adjusts) return part;
    const ValueId doubled = e.net.node("Mul", e.part("doubled"), {part, e.number("two", 2)});
    return e.net.node("Add", e.name, {doubled, e.number("minus", -1)});
  }
};

void read_crop(SectionContext& context, Layer* layer) {
  require_image(*layer);
  Options& options = context.options;
  Crop crop{};
  crop.height = options.integer("crop_height", 1);
  crop.width = options.integer("crop_width", 1);
  crop.adjusts = options.integer("noadjust", 0) == 0;
  require_between("crop_height", crop.height, 1, layer->in.height);
  require_between("crop_width", crop.width, 1, layer->in.width);
  crop.top = (layer->in.height - crop.height) / 2;
  crop.left = (layer->in.width - crop.width) / 2;
  set_out(layer, layer->in.channels, crop.height, crop.width);
  layer->emit = [crop](Emission& e) { return crop.write(e); };
}

ValueId softmax(Emission& e, const char* suffix, ValueId x, int64_t axis) {
  graph::Attributes attributes;
  attributes.set("axis", axis);
  return e.net.node("Softmax", e.part(suffix), {x}, std::move(attributes));
}

void read_softmax(SectionContext& context, Layer* layer) {
  Options& options = context.options;
  keep_shape(layer);
  if (options.has("tree")) fail_bad_input("hone has no trees of classes");
  if (options.number("spatial", 0) != 0) {
    layer->emit = [](Emission& e) { return softmax(e, "softmax", e.x, 1); };
    return;
  }
  const int groups = options.integer("groups", 1);
  require_between("groups", groups, 1, kMaxSize);
  require_divisible("a size", layer->in.size(), groups);
  const auto temperature = static_cast<float>(options.number("temperature", 1));
  if (temperature == 0) fail_bad_input("temperature is 0");
  layer->emit = [groups, temperature, out = layer->out](Emission& e) {
    ValueId rows = e.reshape("rows", e.x, {0, groups, out.size() / groups});
    if (temperature != 1)
      rows = e.net.node("Div", e.part("cooled"), {rows, e.number("temperature", temperature)});
    return e.reshape("image", softmax(e, "softmax", rows, 2), {0, out.channels, out.height, out.width});
  };
}

/// x / (kappa + alpha * sum of squares)^beta. The sum is over a window of channels, but darknet never adds
/// channel size / 2 of the first window and still subtracts it. A product with a matrix computes these sums.
struct ChannelNormalization {
  int64_t size;
  float alpha;
  float beta;
  float kappa;

  tensor::Tensor matrix(int64_t channels) const {
    tensor::Tensor result(tensor::DType::kFloat32, {channels, channels, 1, 1});
    const auto values = result.mutable_values<float>();
    for (int64_t row = 0; row < channels; ++row) {
      for (int64_t column = 0; column < channels; ++column) {
        const bool seen = column >= row - (size - 1) / 2 && column <= row + size / 2;
        const bool lost = column == size / 2;
        values[static_cast<size_t>(row * channels + column)] =
            alpha * static_cast<float>(int{seen} - int{lost});
      }
    }
    return result;
  }

  ValueId write(Emission& e, int64_t channels) const {
    const ValueId squares = e.net.node("Mul", e.part("squares"), {e.x, e.x});
    const ValueId filter = e.net.constant(e.part("window"), matrix(channels));
    const ValueId offset = e.net.constant(
        e.part("kappa"),
        tensor::Tensor::of<float>(std::vector<float>(static_cast<size_t>(channels), kappa), {channels}));
    const ValueId sums = e.net.node("Conv", e.part("sums"), {squares, filter, offset});
    const ValueId factor = e.net.node("Pow", e.part("factor"), {sums, e.number("power", -beta)});
    return e.net.multiply(e.name, e.x, factor);
  }
};

void read_lrn(SectionContext& context, Layer* layer) {
  require_image(*layer);
  Options& options = context.options;
  keep_shape(layer);
  ChannelNormalization lrn{};
  lrn.size = options.integer("size", 5);
  lrn.alpha = static_cast<float>(options.number("alpha", 1e-4));
  lrn.beta = static_cast<float>(options.number("beta", 0.75));
  lrn.kappa = static_cast<float>(options.number("kappa", 1));
  require_between("size", lrn.size, 1, kMaxSize);
  require_between("the number of channels", layer->in.channels, 1, kMaxNormalizedChannels);
  layer->emit = [lrn, channels = layer->in.channels](Emission& e) { return lrn.write(e, channels); };
}

void read_implicit(SectionContext& context, Layer* layer) {
  Options& options = context.options;
  const int filters = options.integer("filters", 128);
  const int atoms = options.integer("atoms", 1);
  set_out(layer, filters, atoms, 1);
  layer->reads_previous = false;
  add_parameter(context, layer, "weights", {1, filters, atoms, 1}, Role::kScale);
  layer->emit = [](Emission& e) { return e.parameters.front(); };
}

}  // namespace

std::vector<SectionKind> plain_sections() {
  return {{"reorg", read_reorg},       {"reorg3d", read_reorg3d},       {"crop", read_crop},
          {"softmax", read_softmax},   {"soft", read_softmax},          {"lrn", read_lrn},
          {"normalization", read_lrn}, {"activation", read_activation}, {"dropout", read_silence},
          {"silence", read_silence},   {"empty", read_silence},         {"cost", read_cost},
          {"implicit", read_implicit}};
}

}  // namespace hone::importer::darknet
