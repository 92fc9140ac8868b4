// Sections that pool or enlarge: maxpool, local_avgpool, avgpool, upsample.
#include <algorithm>
#include <limits>

#include "base/error.hpp"
#include "import/darknet/limits.hpp"
#include "import/darknet/network.hpp"

namespace hone::importer::darknet {
namespace {

/// A window; `padding` is the sum of both sides, and the smaller half is before the image.
struct Window {
  int64_t size;
  int64_t stride_x;
  int64_t stride_y;
  int64_t padding;

  int64_t before() const { return padding / 2; }
  int64_t after() const { return padding - before(); }

  graph::Attributes attributes(bool padded) const {
    graph::Attributes result;
    result.set("kernel_shape", std::vector<int64_t>{size, size});
    result.set("strides", std::vector<int64_t>{stride_y, stride_x});
    result.set("pads", padded ? std::vector<int64_t>{before(), before(), after(), after()}
                              : std::vector<int64_t>(4, 0));
    return result;
  }
};

Window read_window(Options& options) {
  const int stride = options.integer("stride", 1);
  Window window{};
  window.stride_x = options.integer("stride_x", stride);
  window.stride_y = options.integer("stride_y", stride);
  window.size = options.integer("size", stride);
  require_between("stride", std::min(window.stride_x, window.stride_y), 1, kMaxSize);
  require_between("size", window.size, 1, kMaxSize);
  window.padding = options.integer("padding", static_cast<int>(window.size) - 1);
  require_between("padding", window.padding, 0, kMaxSize);
  return window;
}

void set_pooled(const Window& window, Layer* layer) {
  const auto after = [&](int64_t in, int64_t stride) {
    const int64_t room = in + window.padding - window.size;
    return room < 0 ? 0 : room / stride + 1;
  };
  set_out(layer, layer->in.channels, after(layer->in.height, window.stride_y),
          after(layer->in.width, window.stride_x));
}

/// The maximum of an empty window in darknet.
constexpr float kNothing = -std::numeric_limits<float>::max();

ValueId padded(Emission& e, ValueId x, const std::vector<int64_t>& pads) {
  return e.net.node("Pad", e.part("pad"), {x, e.ints("pads", pads), e.number("nothing", kNothing)});
}

ValueId write_maxpool(Emission& e, const Window& window) {
  // A window may be completely outside the image.
  const bool beyond = window.after() >= window.size;
  ValueId x = e.x;
  if (beyond)
    x = padded(e, x, {0, 0, window.before(), window.before(), 0, 0, window.after(), window.after()});
  return e.net.node("MaxPool", e.name, {x}, window.attributes(!beyond));
}

/// The maximum over every `out`-th channel.
ValueId write_depth_maxpool(Emission& e, const Volume& in, int64_t out) {
  const int64_t parts = (in.channels + out - 1) / out;
  ValueId x = e.x;
  if (parts * out > in.channels) x = padded(e, x, {0, 0, 0, 0, 0, parts * out - in.channels, 0, 0});
  x = e.reshape("parts", x, {0, parts, out, in.height, in.width});
  graph::Attributes attributes;
  attributes.set("keepdims", int64_t{0});
  return e.net.node("ReduceMax", e.name, {x, e.ints("axis", {1})}, std::move(attributes));
}

void read_maxpool(SectionContext& context, Layer* layer) {
  Options& options = context.options;
  require_image(*layer);
  if (options.integer("antialiasing", 0) != 0) fail_bad_input("hone has no 'antialiasing'");
  const Window window = read_window(options);
  const bool depth = options.integer("maxpool_depth", 0) != 0;
  const int out = options.integer("out_channels", 1);
  if (!depth) {
    set_pooled(window, layer);
    layer->emit = [window](Emission& e) { return write_maxpool(e, window); };
    return;
  }
  require_between("out_channels", out, 1, layer->in.channels);
  set_out(layer, out, layer->in.height, layer->in.width);
  layer->emit = [in = layer->in, out](Emission& e) { return write_depth_maxpool(e, in, out); };
}

void read_local_avgpool(SectionContext& context, Layer* layer) {
  require_image(*layer);
  const Window window = read_window(context.options);
  if (window.after() >= window.size)
    fail_bad_input("with a padding of {}, a window of {} would lie outside the image: the mean of nothing",
                   window.padding, window.size);
  set_pooled(window, layer);
  layer->emit = [window](Emission& e) {
    return e.net.node("AveragePool", e.name, {e.x}, window.attributes(true));
  };
}

void read_avgpool(SectionContext& /*context*/, Layer* layer) {
  require_image(*layer);
  set_out(layer, layer->in.channels, 1, 1);
  layer->emit = [](Emission& e) { return e.net.node("GlobalAveragePool", e.name, {e.x}); };
}

ValueId scaled(Emission& e, ValueId x, float scale) {
  return scale == 1 ? x : e.net.node("Mul", e.part("scaled"), {x, e.number("scale", scale)});
}

ValueId write_nearest(Emission& e, int64_t stride) {
  graph::Attributes attributes;
  attributes.set("mode", std::string("nearest"));
  attributes.set("coordinate_transformation_mode", std::string("asymmetric"));
  attributes.set("nearest_mode", std::string("floor"));
  const auto factor = static_cast<float>(stride);
  const ValueId scales =
      e.net.constant(e.part("scales"), tensor::Tensor::of<float>({1, 1, factor, factor}, {4}));
  return e.net.node("Resize", e.part("nearest"), {e.x, graph::kNoValue, scales}, std::move(attributes));
}

void read_upsample(SectionContext& context, Layer* layer) {
  require_image(*layer);
  const int stride = context.options.integer("stride", 2);
  const auto scale = static_cast<float>(context.options.number("scale", 1));
  require_between("stride", stride, -kMaxSize, kMaxSize);
  if (stride == 0) fail_bad_input("stride is 0");
  const Volume& in = layer->in;
  if (stride > 0) {
    set_out(layer, in.channels, in.height * stride, in.width * stride);
    layer->emit = [stride, scale](Emission& e) { return scaled(e, write_nearest(e, stride), scale); };
    return;
  }
  // With a negative stride, blocks are summed.
  const int64_t block = -stride;
  if (in.height % block != 0 || in.width % block != 0)
    fail_bad_input("stride={} divides {} unevenly", stride, in.text());
  set_out(layer, in.channels, in.height / block, in.width / block);
  const auto count = static_cast<float>(block * block);
  layer->emit = [block, factor = scale * count](Emission& e) {
    return scaled(
        e, e.net.node("AveragePool", e.part("mean"), {e.x}, Window{block, block, block, 0}.attributes(true)),
        factor);
  };
}

}  // namespace

std::vector<SectionKind> pool_sections() {
  return {{"maxpool", read_maxpool},         {"max", read_maxpool},     {"local_avgpool", read_local_avgpool},
          {"local_avg", read_local_avgpool}, {"avgpool", read_avgpool}, {"avg", read_avgpool},
          {"upsample", read_upsample}};
}

}  // namespace hone::importer::darknet
