// Reference kernels of the loss family.
#include <cmath>

#include "reference/kernel_list.hpp"
#include "reference/strided.hpp"

namespace hone::reference {
namespace {

/// -weight * log-probability of each target class of `log_prob` [N, C, d...], reduced as the node specifies.
Tensor negative_log_likelihood(const KernelContext& context, const std::vector<double>& log_prob,
                               const Shape& shape) {
  const Tensor& target = context.input(1);
  const AxisSplit split = split_at(shape, 1);
  if (target.size() != split.outer * split.inner) {
    fail_bad_input("{} targets for {} scores", target.size(), split.outer * split.inner);
  }
  std::vector<double> weights(static_cast<size_t>(split.length), 1);
  if (context.has_input(2)) weights = context.input(2).to_double();
  if (static_cast<int64_t>(weights.size()) != split.length) {
    fail_bad_input("{} weights for {} classes", weights.size(), split.length);
  }
  const auto classes = target.to_int64();
  const bool ignores = context.attributes().has("ignore_index");
  const int64_t ignored = context.attributes().get_or<int64_t>("ignore_index", 0);
  std::vector<double> losses(classes.size(), 0);
  double sum = 0;
  double total_weight = 0;
  for (size_t i = 0; i < classes.size(); ++i) {
    if (ignores && classes[i] == ignored) continue;
    if (classes[i] < 0 || classes[i] >= split.length)
      fail_bad_input("target {} of {} classes", classes[i], split.length);
    const auto position = static_cast<int64_t>(i);
    const int64_t at =
        (position / split.inner * split.length + classes[i]) * split.inner + position % split.inner;
    const double weight = weights[static_cast<size_t>(classes[i])];
    losses[i] = -weight * log_prob[static_cast<size_t>(at)];
    sum += losses[i];
    total_weight += weight;
  }
  const std::string& reduction = context.attributes().get_string("reduction");
  if (reduction == "none") return Tensor::of(losses, target.shape());
  return Tensor::scalar(reduction == "sum" ? sum : sum / total_weight);
}

void require_classes(const Tensor& scores) {
  if (scores.rank() < 2) fail_bad_input("scores of rank {} have no classes", scores.rank());
}

void nll_loss(KernelContext& context) {
  const Tensor& input = context.input(0);
  require_classes(input);
  context.outputs[0] = negative_log_likelihood(context, input.to_double(), input.shape()).cast(input.dtype());
}

/// x - log(sum(exp(x))) over the classes.
std::vector<double> log_softmax(const Tensor& scores) {
  auto values = scores.to_double();
  const AxisSplit split = split_at(scores.shape(), 1);
  for (int64_t row = 0; row < split.outer * split.inner && split.length > 0; ++row) {
    const int64_t first = row / split.inner * split.length * split.inner + row % split.inner;
    const auto at = [&](int64_t i) -> double& {
      return values[static_cast<size_t>(first + i * split.inner)];
    };
    double maximum = at(0);
    for (int64_t i = 1; i < split.length; ++i) maximum = std::max(maximum, at(i));
    double sum = 0;
    for (int64_t i = 0; i < split.length; ++i) sum += std::exp(at(i) - maximum);
    const double shift = maximum + std::log(sum);
    for (int64_t i = 0; i < split.length; ++i) at(i) -= shift;
  }
  return values;
}

void softmax_cross_entropy_loss(KernelContext& context) {
  const Tensor& scores = context.input(0);
  require_classes(scores);
  const auto log_prob = log_softmax(scores);
  context.outputs[0] = negative_log_likelihood(context, log_prob, scores.shape()).cast(scores.dtype());
  if (context.node.has_output(1))
    context.outputs[1] = Tensor::of(log_prob, scores.shape()).cast(scores.dtype());
}

constexpr KernelEntry kKernels[] = {
    {"NegativeLogLikelihoodLoss", nll_loss},
    {"SoftmaxCrossEntropyLoss", softmax_cross_entropy_loss},
};

}  // namespace

std::span<const KernelEntry> loss_kernels() { return kKernels; }

}  // namespace hone::reference
