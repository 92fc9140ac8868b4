// See activation.hpp. Formulas: docs/DARKNET.md.
#include "import/darknet/activation.hpp"

#include <algorithm>

namespace hone::importer::darknet {
namespace {

ValueId with_alpha(Emission& e, const char* op, ValueId x, float alpha) {
  graph::Attributes attributes;
  attributes.set("alpha", alpha);
  return e.net.node(op, e.name, {x}, std::move(attributes));
}

template <const char* op>
ValueId plain(Emission& e, ValueId x) {
  return e.net.node(op, e.name, {x});
}

ValueId clip(Emission& e, const std::string& name, ValueId x, float least, float most) {
  return e.net.node("Clip", name, {x, e.number("least", least), e.number("most", most)});
}

ValueId times(Emission& e, const std::string& name, ValueId x, float factor) {
  return e.net.node("Mul", name, {x, e.net.constant(name + ".factor", tensor::Tensor::scalar(factor))});
}

/// slope x + rest.
ValueId with_slope(Emission& e, ValueId x, float slope, ValueId rest) {
  return e.net.node("Add", e.name, {times(e, e.part("slope"), x, slope), rest});
}

ValueId leaky(Emission& e, ValueId x) { return with_alpha(e, "LeakyRelu", x, 0.1f); }
ValueId relie(Emission& e, ValueId x) { return with_alpha(e, "LeakyRelu", x, 0.01f); }
ValueId elu(Emission& e, ValueId x) { return with_alpha(e, "Elu", x, 1); }

ValueId selu(Emission& e, ValueId x) {
  graph::Attributes attributes;
  attributes.set("alpha", 1.6732f);
  attributes.set("gamma", 1.0507f);
  return e.net.node("Selu", e.name, {x}, std::move(attributes));
}

ValueId gelu(Emission& e, ValueId x) {
  graph::Attributes attributes;
  attributes.set("approximate", std::string("tanh"));
  return e.net.node("Gelu", e.name, {x}, std::move(attributes));
}

ValueId swish(Emission& e, ValueId x) {
  return e.net.node("Mul", e.name, {x, e.net.node("Sigmoid", e.part("sigmoid"), {x})});
}

ValueId relu6(Emission& e, ValueId x) { return clip(e, e.name, x, 0, 6); }
ValueId hard_tan(Emission& e, ValueId x) { return clip(e, e.name, x, -1, 1); }

/// x in [0, 1], slope 0.001 outside.
ValueId lh_tan(Emission& e, ValueId x) {
  return with_slope(e, x, 0.001f, times(e, e.part("inner"), clip(e, e.part("clip"), x, 0, 1), 0.999f));
}

/// 0.125 x + 0.5 in [-4, 4], slope 0.01 outside.
ValueId plse(Emission& e, ValueId x) {
  const ValueId inner = times(e, e.part("inner"), clip(e, e.part("clip"), x, -4, 4), 0.115f);
  const ValueId slope = times(e, e.part("slope"), x, 0.01f);
  const ValueId sum = e.net.node("Add", e.part("sum"), {slope, inner});
  return e.net.node("Add", e.name, {sum, e.number("half", 0.5f)});
}

/// 1.1 x above 0, 0.1 x below.
ValueId ramp(Emission& e, ValueId x) {
  return with_slope(e, x, 0.1f, e.net.node("Relu", e.part("positive"), {x}));
}

/// 2 / (1 + exp(-x)) - 1, which is tanh(x / 2).
ValueId loggy(Emission& e, ValueId x) {
  return e.net.node("Tanh", e.name, {times(e, e.part("half"), x, 0.5f)});
}

/// x above 0, x² / 2 + x above -2, else 0.
ValueId hard_mish(Emission& e, ValueId x) {
  const ValueId inner = clip(e, e.part("clip"), x, -2, 0);
  const ValueId square = e.net.node("Mul", e.part("square"), {inner, inner});
  const ValueId curve = e.net.node("Add", e.part("curve"), {times(e, e.part("half"), square, 0.5f), inner});
  return e.net.node("Add", e.name, {curve, e.net.node("Relu", e.part("positive"), {x})});
}

/// With n = floor(x): n / 2 where n is even, x - n + floor(x / 2) where it is odd.
ValueId stair(Emission& e, ValueId x) {
  const ValueId n = e.net.node("Floor", e.part("n"), {x});
  const ValueId half = e.net.node("Floor", e.part("floor"), {times(e, e.part("half"), x, 0.5f)});
  const ValueId odd = e.net.node("Sub", e.part("odd"), {n, times(e, e.part("even"), half, 2)});
  const ValueId rest = e.net.node("Sub", e.part("rest"), {x, n});
  const ValueId rise = e.net.node("Mul", e.part("rise"), {odd, rest});
  return e.net.node("Add", e.name, {rise, half});
}

/// x / (0.0001 + the sum of x over the channels).
ValueId shares(Emission& e, ValueId x) {
  const ValueId sum = e.net.node("ReduceSum", e.part("sum"), {x, e.ints("axes", {1})});
  const ValueId bounded = e.net.node("Add", e.part("bounded"), {sum, e.number("epsilon", 1e-4f)});
  return e.net.node("Div", e.name, {x, bounded});
}

ValueId normalize_channels(Emission& e, ValueId x) {
  return shares(e, e.net.node("Relu", e.part("positive"), {x}));
}

ValueId normalize_softmax(Emission& e, ValueId x) { return shares(e, e.net.node("Exp", e.part("exp"), {x})); }

ValueId normalize_softmax_from_most(Emission& e, ValueId x) {
  const ValueId most = e.net.node("ReduceMax", e.part("largest"), {x, e.ints("axis", {1})});
  return normalize_softmax(e, e.net.node("Sub", e.part("below"), {x, most}));
}

constexpr char kRelu[] = "Relu";
constexpr char kSigmoid[] = "Sigmoid";
constexpr char kTanh[] = "Tanh";
constexpr char kMish[] = "Mish";

constexpr Activation kActivations[] = {
    {"relu", plain<kRelu>},
    {"linear", nullptr},
    {"leaky", leaky},
    {"revleaky", leaky},
    {"mish", plain<kMish>},
    {"swish", swish},
    {"logistic", plain<kSigmoid>},
    {"hard_mish", hard_mish},
    {"relu6", relu6},
    {"elu", elu},
    {"selu", selu},
    {"gelu", gelu},
    {"relie", relie},
    {"ramp", ramp},
    {"tanh", plain<kTanh>},
    {"loggy", loggy},
    {"plse", plse},
    {"hardtan", hard_tan},
    {"lhtan", lh_tan},
    {"stair", stair},
    {"normalize_channels", normalize_channels},
    {"normalize_channels_softmax", normalize_softmax},
    {"normalize_channels_softmax_maxval", normalize_softmax_from_most},
};

}  // namespace

const Activation& activation_of(SectionContext& context, std::string_view otherwise) {
  const std::string name = context.options.text("activation", otherwise);
  const auto* const found = std::ranges::find(kActivations, name, &Activation::name);
  if (found != std::end(kActivations)) return *found;
  context.warnings.push_back(fmt::format("line {}: the activation '{}' is not known, ReLU takes its place",
                                         context.options.section().line, name.substr(0, 60)));
  return kActivations[0];
}

ValueId activated(Emission& emission, ValueId x, const Activation& activation) {
  return activation.write == nullptr ? x : activation.write(emission, x);
}

float gain_of(const Activation& activation) {
  const bool rectifies = activation.name == "leaky" || activation.name == "relu" ||
                         activation.name == "mish" || activation.name == "swish";
  return rectifies ? 1.5f : kLinearGain;
}

}  // namespace hone::importer::darknet
