// See recurrent_sequence.hpp.
#include "reference/kernels/recurrent_sequence.hpp"

#include <algorithm>
#include <cmath>

#include "reference/kernels/rounding.hpp"

namespace hone::reference {
namespace {

using graph::RecurrentFunction;

double apply(const graph::RecurrentActivation& activation, double x) {
  const double alpha = activation.alpha;
  const double beta = activation.beta;
  switch (activation.function) {
    case RecurrentFunction::kRelu: return std::max(0.0, x);
    case RecurrentFunction::kTanh: return std::tanh(x);
    case RecurrentFunction::kSigmoid: return 1 / (1 + std::exp(-x));
    case RecurrentFunction::kAffine: return alpha * x + beta;
    case RecurrentFunction::kLeakyRelu: return x >= 0 ? x : alpha * x;
    case RecurrentFunction::kThresholdedRelu: return x >= alpha ? x : 0;
    case RecurrentFunction::kScaledTanh: return alpha * std::tanh(beta * x);
    case RecurrentFunction::kHardSigmoid: return std::clamp(alpha * x + beta, 0.0, 1.0);
    case RecurrentFunction::kElu: return x >= 0 ? x : alpha * std::expm1(x);
    case RecurrentFunction::kSoftsign: return x / (1 + std::abs(x));
    case RecurrentFunction::kSoftplus: return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x)));
  }
  fail_internal("unknown recurrent activation");
}

std::vector<double> read_shaped(const KernelContext& context, size_t input, const Shape& shape) {
  const Tensor& tensor = context.input(input);
  if (tensor.shape() != shape) {
    fail_bad_input("input {} has shape {}, expected {}", input, tensor::shape_text(tensor.shape()),
                   tensor::shape_text(shape));
  }
  return tensor.to_double();
}

double dot(const double* row, std::span<const double> x) {
  double sum = 0;
  for (size_t i = 0; i < x.size(); ++i) sum += row[i] * x[i];
  return sum;
}

/// Writes values to output `i` in the type of input 0.
void store(KernelContext& context, size_t i, const Shape& shape, const std::vector<double>& values) {
  if (!context.node.has_output(i)) return;
  Tensor& y = context.make_output(i, context.input(0).dtype(), shape);
  store_rounded(y, values);
}

}  // namespace

std::vector<double> read_optional(const KernelContext& context, size_t input, const Shape& shape) {
  if (context.has_input(input)) return read_shaped(context, input, shape);
  return std::vector<double>(static_cast<size_t>(tensor::element_count(shape)), 0.0);
}

RecurrentLayer::RecurrentLayer(const KernelContext& context, int64_t gates,
                               const std::vector<std::string_view>& activations)
    : gates_(gates), reversed_(graph::read_reversed(context.attributes())) {
  const Shape& x = context.input(0).shape();
  const Shape& r = context.input(2).shape();
  if (x.size() != 3) fail_bad_input("input 0 has rank {}, expected 3", x.size());
  if (r.size() != 3) fail_bad_input("input 2 has rank {}, expected 3", r.size());
  batch_major_ = context.attributes().get_int("layout") == 1;
  steps_ = x[batch_major_ ? 1 : 0];
  batch_ = x[batch_major_ ? 0 : 1];
  inputs_ = x[2];
  hidden_ = context.attributes().get_or<int64_t>("hidden_size", r[2]);
  clip_ = context.attributes().get_or<float>("clip", 0.0f);
  activations_ = graph::read_activations(context.attributes(), activations, reversed_.size());
  const auto count = static_cast<int64_t>(reversed_.size());
  x_ = context.input(0).to_double();
  w_ = read_shaped(context, 1, {count, gates_ * hidden_, inputs_});
  r_ = read_shaped(context, 2, {count, gates_ * hidden_, hidden_});
  b_ = read_optional(context, 3, {count, 2 * gates_ * hidden_});
}

double RecurrentLayer::input_part(size_t direction, int64_t row, std::span<const double> x) const {
  const int64_t rows = gates_ * hidden_;
  const auto d = static_cast<int64_t>(direction);
  return dot(w_.data() + (d * rows + row) * inputs_, x) + b_[static_cast<size_t>(2 * d * rows + row)];
}

double RecurrentLayer::hidden_part(size_t direction, int64_t row, std::span<const double> h) const {
  const int64_t rows = gates_ * hidden_;
  const auto d = static_cast<int64_t>(direction);
  return dot(r_.data() + (d * rows + row) * hidden_, h) + b_[static_cast<size_t>((2 * d + 1) * rows + row)];
}

double RecurrentLayer::activate(size_t direction, size_t which, double value) const {
  if (clip_ > 0) value = std::clamp(value, -clip_, clip_);
  return apply(activations_[direction * (activations_.size() / reversed_.size()) + which], value);
}

int64_t RecurrentLayer::input_offset(int64_t step, int64_t item) const {
  return (batch_major_ ? item * steps_ + step : step * batch_ + item) * inputs_;
}

int64_t RecurrentLayer::output_offset(int64_t step, size_t direction, int64_t item) const {
  const auto count = static_cast<int64_t>(reversed_.size());
  const auto d = static_cast<int64_t>(direction);
  const int64_t row = batch_major_ ? (item * steps_ + step) * count + d : (step * count + d) * batch_ + item;
  return row * hidden_;
}

int64_t RecurrentLayer::state_offset(size_t direction, int64_t item) const {
  const auto count = static_cast<int64_t>(reversed_.size());
  const auto d = static_cast<int64_t>(direction);
  return (batch_major_ ? item * count + d : d * batch_ + item) * hidden_;
}

Shape RecurrentLayer::state_shape() const {
  const auto count = static_cast<int64_t>(reversed_.size());
  return batch_major_ ? Shape{batch_, count, hidden_} : Shape{count, batch_, hidden_};
}

std::vector<double> RecurrentLayer::read_state(const KernelContext& context, size_t input) const {
  return read_optional(context, input, state_shape());
}

std::vector<int64_t> RecurrentLayer::read_lengths(const KernelContext& context) const {
  std::vector<int64_t> lengths(static_cast<size_t>(batch_), steps_);
  if (!context.has_input(4)) return lengths;
  const std::vector<int64_t> given = context.input(4).to_int64();
  if (given.size() != lengths.size()) {
    fail_bad_input("input 4 has {} elements, expected {}", given.size(), batch_);
  }
  for (const int64_t length : given) {
    if (length < 0 || length > steps_) {
      fail_bad_input("input 4 holds the length {}, outside [0, {}]", length, steps_);
    }
  }
  return given;
}

void RecurrentLayer::run(KernelContext& context, bool cell_state, const Step& step) const {
  const std::vector<int64_t> lengths = read_lengths(context);
  const auto count = static_cast<int64_t>(reversed_.size());
  const Shape output_shape =
      batch_major_ ? Shape{batch_, steps_, count, hidden_} : Shape{steps_, count, batch_, hidden_};
  std::vector<double> y(static_cast<size_t>(tensor::element_count(output_shape)), 0.0);
  std::vector<double> last_h = read_state(context, 5);
  std::vector<double> last_c;
  if (cell_state) last_c = read_state(context, 6);
  const auto copy = [&](const std::vector<double>& from, std::vector<double>& to, int64_t offset) {
    std::copy(from.begin(), from.end(), to.begin() + offset);
  };
  const auto slice = [&](const std::vector<double>& from, int64_t offset) {
    return std::vector<double>(from.begin() + offset, from.begin() + offset + hidden_);
  };
  for (size_t direction = 0; direction < reversed_.size(); ++direction) {
    for (int64_t item = 0; item < batch_; ++item) {
      const int64_t at = state_offset(direction, item);
      RecurrentState state{.h = slice(last_h, at)};
      if (cell_state) state.c = slice(last_c, at);
      const int64_t length = lengths[static_cast<size_t>(item)];
      for (int64_t i = 0; i < length; ++i) {
        const int64_t t = reversed_[direction] ? length - 1 - i : i;
        step(direction, {x_.data() + input_offset(t, item), static_cast<size_t>(inputs_)}, state);
        copy(state.h, y, output_offset(t, direction, item));
      }
      copy(state.h, last_h, at);
      if (cell_state) copy(state.c, last_c, at);
    }
  }
  store(context, 0, output_shape, y);
  store(context, 1, state_shape(), last_h);
  if (cell_state) store(context, 2, state_shape(), last_c);
}

}  // namespace hone::reference
