// Sections that read other sections: route, shortcut, scale_channels, sam.
#include <algorithm>

#include "base/error.hpp"
#include "import/darknet/activation.hpp"
#include "import/darknet/limits.hpp"
#include "import/darknet/network.hpp"

namespace hone::importer::darknet {
namespace {

std::vector<size_t> sources_of(SectionContext& context, std::string_view key) {
  const auto numbers = context.options.integers(key);
  if (!numbers) fail_bad_input("it lacks the option '{}'", key);
  std::vector<size_t> sources;
  for (const int number : *numbers) sources.push_back(context.layer_index(number));
  return sources;
}

/// Part `group` of `groups` of each source, one after the other.
ValueId write_route(Emission& e, const std::vector<int64_t>& channels, int64_t groups, int64_t group) {
  std::vector<ValueId> parts;
  for (size_t i = 0; i < e.reads.size(); ++i) {
    const int64_t share = channels[i] / groups;
    parts.push_back(
        groups == 1 ? e.reads[i]
                    : e.channels(fmt::format("group{}", i), e.reads[i], group * share, (group + 1) * share));
  }
  return parts.size() == 1 ? parts.front() : e.net.concat(e.name, parts);
}

void read_route_of(SectionContext& context, Layer* layer, int64_t groups, int64_t group) {
  layer->reads_previous = false;
  layer->reads = sources_of(context, "layers");
  require_between("groups", groups, 1, kMaxSize);
  require_between("group_id", group, 0, groups - 1);
  const Volume& first = context.out_of(layer->reads.front());
  std::vector<int64_t> channels;
  int64_t total = 0;
  for (const size_t source : layer->reads) {
    const Volume& volume = context.out_of(source);
    if (!volume.same_plane(first))
      fail_bad_input("layers {} and {} have different sizes, {} and {}", layer->reads.front(), source,
                     first.text(), volume.text());
    if (volume.channels % groups != 0)
      fail_bad_input("groups={} divides the {} channels of layer {} unevenly", groups, volume.channels,
                     source);
    channels.push_back(volume.channels);
    total += volume.channels / groups;
  }
  set_out(layer, total, first.height, first.width);
  layer->emit = [channels, groups, group](Emission& e) { return write_route(e, channels, groups, group); };
}

void read_route(SectionContext& context, Layer* layer) {
  const int groups = context.options.integer("groups", 1);
  read_route_of(context, layer, groups, context.options.integer("group_id", 0));
}

/// The first half of the channels; one family of cfg files has its own section for it.
void read_route_lhalf(SectionContext& context, Layer* layer) { read_route_of(context, layer, 2, 0); }

enum class WeightNormalization { kRelu, kSoftmax };

/// The shares of the inputs of a weighted shortcut, [inputs, channels or 1]: computed from the positive
/// weights or from the exponentials of the weights; darknet adds 0.0001 to the sums.
ValueId write_shares(Emission& e, WeightNormalization how) {
  ValueId weights = e.parameters.front();
  const ValueId axis = e.ints("shares.axis", {0});
  if (how == WeightNormalization::kRelu) {
    weights = e.net.node("Relu", e.part("shares.positive"), {weights});
  } else {
    const ValueId most = e.net.node("ReduceMax", e.part("shares.largest"), {weights, axis});
    weights =
        e.net.node("Exp", e.part("shares.exp"), {e.net.node("Sub", e.part("shares.below"), {weights, most})});
  }
  const ValueId sum = e.net.node("ReduceSum", e.part("shares.sum"), {weights, axis});
  const ValueId bounded =
      e.net.node("Add", e.part("shares.bounded"), {sum, e.number("shares.epsilon", 1e-4f)});
  return e.net.node("Div", e.part("shares"), {weights, bounded});
}

struct Shortcut {
  Volume in;
  std::vector<Volume> sources;
  /// Factors of the sum's first term and of the others.
  float alpha = 1;
  float beta = 1;
  std::optional<WeightNormalization> weighted;
  int64_t weights_each = 1;  ///< per input
  Activation activation;

  /// A summand gets the size of the sum: missing channels are zeros, surplus channels are dropped.
  ValueId fitted(Emission& e, size_t i) const {
    const ValueId plane = plane_fitted(e, i);
    const int64_t channels = sources[i].channels;
    if (channels == in.channels) return plane;
    if (channels > in.channels) return e.channels(fmt::format("common{}", i), plane, 0, in.channels);
    return padded(e, fmt::format("enlarged{}", i), plane, {0, in.channels - channels, 0, 0});
  }

  /// If the sides differ, darknet's shortcut_cpu adds the pixels at multiples of `stride` of a larger
  /// summand, or adds the pixels of a smaller summand at multiples of `spacing`.
  ValueId plane_fitted(Emission& e, size_t i) const {
    const Volume& from = sources[i];
    if (from.same_plane(in)) return e.reads[i];
    const int64_t stride = std::max<int64_t>(1, from.width / in.width);
    const int64_t spacing = std::max<int64_t>(1, in.width / from.width);
    const int64_t height = std::min(from.height, in.height);
    const int64_t width = std::min(from.width, in.width);
    const std::string taken = fmt::format("taken{}", i);
    const auto ints = [&](const char* what, const std::vector<int64_t>& values) {
      return e.ints((taken + what).c_str(), values);
    };
    ValueId x = e.net.node("Slice", e.part(taken.c_str()),
                           {e.reads[i], ints(".begin", {0, 0}),
                            ints(".end", {(height - 1) * stride + 1, (width - 1) * stride + 1}),
                            ints(".axes", {2, 3}), ints(".steps", {stride, stride})});
    if (spacing > 1) {
      x = e.reshape(fmt::format("points{}", i).c_str(), x, {0, from.channels, height, 1, width, 1});
      x = padded(e, fmt::format("spaced{}", i), x, {0, 0, 0, spacing - 1, 0, spacing - 1});
      x = e.reshape(fmt::format("plane{}", i).c_str(), x,
                    {0, from.channels, height * spacing, width * spacing});
    }
    const int64_t rows = in.height - height * spacing;
    const int64_t columns = in.width - width * spacing;
    return rows == 0 && columns == 0 ? x : padded(e, fmt::format("widened{}", i), x, {0, 0, rows, columns});
  }

  /// Appends this number of zeros to each axis.
  static ValueId padded(Emission& e, const std::string& suffix, ValueId x,
                        const std::vector<int64_t>& behind) {
    std::vector<int64_t> pads(behind.size(), 0);
    pads.insert(pads.end(), behind.begin(), behind.end());
    const std::string name = e.part(suffix.c_str());
    const auto count = static_cast<int64_t>(pads.size());
    return e.net.node("Pad", name,
                      {x, e.net.constant(name + ".pads", tensor::Tensor::of<int64_t>(pads, {count}))});
  }

  ValueId term(Emission& e, ValueId x, ValueId shares, int64_t i) const {
    if (!weighted) return x;
    const std::string name = fmt::format("{}.share{}", e.name, i);
    const auto bound = [&](const char* what, int64_t number) {
      return e.net.constant(name + what, tensor::Tensor::of<int64_t>({number}, {1}));
    };
    const ValueId row =
        e.net.node("Slice", name, {shares, bound(".begin", i), bound(".end", i + 1), bound(".axis", 0)});
    const ValueId shape =
        e.net.constant(name + ".shape", tensor::Tensor::of<int64_t>({1, weights_each, 1, 1}, {4}));
    const ValueId factor = e.net.node("Reshape", name + ".factor", {row, shape});
    return e.net.node("Mul", name + ".term", {x, factor});
  }

  static ValueId scaled(Emission& e, const std::string& suffix, ValueId x, float factor) {
    if (factor == 1) return x;
    const std::string name = e.part(suffix.c_str());
    return e.net.node("Mul", name, {x, e.net.constant(name + ".factor", tensor::Tensor::scalar(factor))});
  }

  ValueId write(Emission& e) const {
    const ValueId shares = weighted ? write_shares(e, *weighted) : graph::kNoValue;
    ValueId sum = term(e, scaled(e, "alpha", e.x, alpha), shares, 0);
    for (size_t i = 0; i < sources.size(); ++i) {
      const ValueId summand = scaled(e, fmt::format("beta{}", i), fitted(e, i), beta);
      const ValueId next = term(e, summand, shares, static_cast<int64_t>(i) + 1);
      sum = e.net.node("Add", fmt::format("{}.sum{}", e.name, i), {sum, next});
    }
    return activated(e, sum, activation);
  }
};

std::optional<WeightNormalization> read_weighting(Options& options, const std::string& type) {
  const std::string normalization = options.text("weights_normalization", "none");
  if (type == "none") return std::nullopt;
  if (normalization == "relu" || normalization == "avg_relu") return WeightNormalization::kRelu;
  if (normalization == "softmax") return WeightNormalization::kSoftmax;
  fail_bad_input("weights_type={} needs weights_normalization=relu or softmax", type.substr(0, 60));
}

/// Both sides of a summand must have the same integer ratio to those of the sum, as darknet asserts.
void require_same_ratio(size_t source, const Volume& from, const Volume& in) {
  if (from.width / in.width != from.height / in.height || in.width / from.width != in.height / from.height)
    fail_bad_input("it adds layer {} of {} to {}: the ratios of widths and heights differ", source,
                   from.text(), in.text());
}

/// Factors that only pjreddie's program has. It leaves elements as they are to which nothing is added.
void read_factors(Options& options, Shortcut* shortcut) {
  shortcut->alpha = static_cast<float>(options.number("alpha", 1));
  shortcut->beta = static_cast<float>(options.number("beta", 1));
  const auto covers = [&](const Volume& source) {
    return source.same_plane(shortcut->in) && source.channels >= shortcut->in.channels;
  };
  if (shortcut->alpha != 1 && !std::ranges::all_of(shortcut->sources, covers))
    fail_bad_input("alpha is {}, which hone knows only where layers of one size are added", shortcut->alpha);
}

void read_shortcut(SectionContext& context, Layer* layer) {
  Options& options = context.options;
  if (context.index() == 0) fail_bad_input("there is no section before it to add to");
  layer->reads = sources_of(context, "from");
  Shortcut shortcut{.in = layer->in, .activation = activation_of(context, "linear")};
  for (const size_t source : layer->reads) {
    shortcut.sources.push_back(context.out_of(source));
    require_same_ratio(source, shortcut.sources.back(), layer->in);
  }
  if (context.rules == Rules::kPjreddie) read_factors(options, &shortcut);
  const std::string type = options.text("weights_type", "none");
  const bool per_channel = type == "per_channel";
  if (!per_channel && type != "none" && type != "per_feature" && type != "per_layer")
    fail_bad_input("weights_type is '{}': none, per_feature or per_channel", type.substr(0, 60));
  shortcut.weighted = read_weighting(options, type);
  const bool one_plane = std::ranges::all_of(
      shortcut.sources, [&](const Volume& source) { return source.same_plane(layer->in); });
  if (shortcut.weighted && !one_plane)
    fail_bad_input("a shortcut with weights adds layers of one height and width only");
  shortcut.weights_each = per_channel ? layer->in.channels : 1;
  set_out(layer, layer->in.channels, layer->in.height, layer->in.width);
  const auto inputs = static_cast<int64_t>(layer->reads.size()) + 1;
  if (shortcut.weighted)
    add_parameter(context, layer, "weights", {inputs, shortcut.weights_each}, Role::kScale);
  layer->emit = [shortcut](Emission& e) { return shortcut.write(e); };
}

/// Multiplies the output of `from` by this section's input, then applies the activation.
void read_product(SectionContext& context, Layer* layer) {
  const Volume& from = context.out_of(layer->reads.front());
  set_out(layer, from.channels, from.height, from.width);
  layer->emit = [activation = activation_of(context, "linear")](Emission& e) {
    return activated(e, e.net.multiply(e.part("product"), e.reads.front(), e.x), activation);
  };
}

void read_source(SectionContext& context, Layer* layer) {
  layer->reads = sources_of(context, "from");
  layer->reads.resize(1);
}

void read_scale_channels(SectionContext& context, Layer* layer) {
  read_source(context, layer);
  const Volume& from = context.out_of(layer->reads.front());
  const Volume& in = layer->in;
  const bool planes = context.options.integer("scale_wh", 0) != 0;
  const bool fits = planes ? in.channels == 1 && in.same_plane(from) : in == Volume{from.channels, 1, 1};
  if (!fits)
    fail_bad_input("a factor for each {} of layer {} ({}) is wanted, the section before gives {}",
                   planes ? "pixel" : "channel", layer->reads.front(), from.text(), in.text());
  read_product(context, layer);
}

void read_sam(SectionContext& context, Layer* layer) {
  read_source(context, layer);
  const Volume& from = context.out_of(layer->reads.front());
  if (from != layer->in)
    fail_bad_input("it multiplies layer {} of {} with {}: the sizes differ", layer->reads.front(),
                   from.text(), layer->in.text());
  read_product(context, layer);
}

}  // namespace

std::vector<SectionKind> joining_sections() {
  return {{"route", read_route},
          {"route_lhalf", read_route_lhalf},
          {"shortcut", read_shortcut},
          {"scale_channels", read_scale_channels},
          {"sam", read_sam}};
}

}  // namespace hone::importer::darknet
