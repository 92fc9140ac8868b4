// Reference kernels of the normalization family over whole axes; LRN and LpNormalization are in
// local_normalization.cpp. Statistics are population means and variances, in double.
#include <cmath>
#include <numeric>

#include "reference/kernels/parts.hpp"
#include "reference/strided.hpp"

namespace hone::reference {
namespace {

struct Statistics {
  double mean = 0;
  double variance = 0;
};

Statistics statistics_of(std::span<const double> values) {
  Statistics result;
  const auto count = static_cast<double>(values.size());
  for (const double value : values) result.mean += value / count;
  for (const double value : values) result.variance += (value - result.mean) * (value - result.mean) / count;
  return result;
}

/// Input i as one number per channel.
std::vector<double> per_channel(const KernelContext& context, size_t i, int64_t channels) {
  const Tensor& x = context.input(i);
  if (x.size() != channels) fail_bad_input("input {} has {} elements for {} channels", i, x.size(), channels);
  return x.to_double();
}

/// Channels of a tensor [N, C, ...]; a vector is one channel.
int64_t channels_of(const Tensor& x) {
  if (x.rank() == 0) fail_bad_input("a scalar has no channels");
  return x.rank() == 1 ? 1 : x.shape()[1];
}

/// Per-channel statistics over the batch and all positions.
std::vector<Statistics> batch_statistics(const Tensor& x, int64_t channels) {
  const auto values = x.to_double();
  const int64_t batch = x.rank() == 1 ? 1 : x.shape()[0];
  const int64_t plane = x.size() == 0 ? 0 : x.size() / batch / channels;
  std::vector<Statistics> result;
  for (int64_t c = 0; c < channels; ++c) {
    std::vector<double> all;
    for (int64_t n = 0; n < batch; ++n) {
      const auto first = values.begin() + (n * channels + c) * plane;
      all.insert(all.end(), first, first + plane);
    }
    result.push_back(statistics_of(all));
  }
  return result;
}

/// (1 - momentum) times the statistics of the batch plus momentum times the running ones.
std::vector<double> blend(double momentum, const std::vector<double>& running,
                          const std::vector<double>& batch) {
  std::vector<double> result;
  for (size_t i = 0; i < running.size(); ++i)
    result.push_back(momentum * running[i] + (1 - momentum) * batch[i]);
  return result;
}

void batch_normalization(KernelContext& context) {
  const Tensor& x = context.input(0);
  const int64_t channels = channels_of(x);
  const auto scale = per_channel(context, 1, channels);
  const auto bias = per_channel(context, 2, channels);
  auto mean = per_channel(context, 3, channels);
  auto variance = per_channel(context, 4, channels);
  const double epsilon = context.attributes().get_float("epsilon");
  if (context.attributes().get_int("training_mode") != 0) {
    const auto running_mean = mean;
    const auto running_variance = variance;
    const auto batch = batch_statistics(x, channels);
    for (size_t c = 0; c < batch.size(); ++c) {
      mean[c] = batch[c].mean;
      variance[c] = batch[c].variance;
    }
    const double momentum = context.attributes().get_float("momentum");
    const auto keep = [&](size_t output, const std::vector<double>& values) {
      if (!context.node.has_output(output)) return;
      context.outputs[output] = Tensor::of(values, {channels}).cast(context.input(output + 2).dtype());
    };
    keep(1, blend(momentum, running_mean, mean));
    keep(2, blend(momentum, running_variance, variance));
  }
  auto values = x.to_double();
  const size_t plane = x.rank() < 2 ? values.size() : static_cast<size_t>(split_at(x.shape(), 1).inner);
  for (size_t i = 0; i < values.size(); ++i) {
    const size_t c = i / plane % static_cast<size_t>(channels);
    values[i] = (values[i] - mean[c]) / std::sqrt(variance[c] + epsilon) * scale[c] + bias[c];
  }
  context.outputs[0] = Tensor::of(values, x.shape()).cast(x.dtype());
}

/// Normalises every run of `length` consecutive elements to mean 0 and variance 1; returns its statistics.
std::vector<Statistics> normalize_runs(std::vector<double>& values, size_t length, double epsilon) {
  std::vector<Statistics> all;
  for (size_t first = 0; first < values.size(); first += length) {
    const auto run = std::span(values).subspan(first, length);
    all.push_back(statistics_of(run));
    const double scale = 1 / std::sqrt(all.back().variance + epsilon);
    for (double& value : run) value = (value - all.back().mean) * scale;
  }
  return all;
}

/// Normalises groups of channels of every image, then scales and shifts each channel.
void normalize_groups(KernelContext& context, int64_t groups) {
  const Tensor& x = context.input(0);
  if (x.rank() < 2) fail_bad_input("input of rank {} has no channels", x.rank());
  const int64_t channels = x.shape()[1];
  if (groups < 1 || channels % groups != 0)
    fail_bad_input("{} channels do not divide into {} groups", channels, groups);
  const auto scale = per_channel(context, 1, channels);
  const auto bias = per_channel(context, 2, channels);
  auto values = x.to_double();
  if (!values.empty()) {
    const auto plane = static_cast<size_t>(split_at(x.shape(), 1).inner);
    normalize_runs(values, plane * static_cast<size_t>(channels / groups),
                   context.attributes().get_float("epsilon"));
    for (size_t i = 0; i < values.size(); ++i) {
      const size_t c = i / plane % static_cast<size_t>(channels);
      values[i] = values[i] * scale[c] + bias[c];
    }
  }
  context.outputs[0] = Tensor::of(values, x.shape()).cast(x.dtype());
}

void instance_normalization(KernelContext& context) {
  const Tensor& x = context.input(0);
  normalize_groups(context, x.rank() < 2 ? 1 : std::max<int64_t>(x.shape()[1], 1));
}

void group_normalization(KernelContext& context) {
  normalize_groups(context, context.attributes().get_int("num_groups"));
}

/// values[i] = f(values[i], element of `t` broadcast to `shape`).
template <class F>
void combine(std::vector<double>& values, const Shape& shape, const Tensor& t, F&& f) {
  const auto other = t.to_double();
  size_t next = 0;
  walk<1>(shape, {tensor::broadcast_strides(t.shape(), shape)}, {0}, [&](const auto& at) {
    values[next] = f(values[next], other[static_cast<size_t>(at[0])]);
    ++next;
  });
}

void layer_normalization(KernelContext& context) {
  const Tensor& x = context.input(0);
  const int64_t axis = tensor::normalize_axis(context.attributes().get_int("axis"), x.rank());
  const double epsilon = context.attributes().get_float("epsilon");
  auto values = x.to_double();
  const AxisSplit split = split_at(x.shape(), axis);
  std::vector<Statistics> statistics;
  if (!values.empty())
    statistics = normalize_runs(values, static_cast<size_t>(split.length * split.inner), epsilon);
  combine(values, x.shape(), context.input(1), [](double a, double b) { return a * b; });
  if (context.has_input(2))
    combine(values, x.shape(), context.input(2), [](double a, double b) { return a + b; });
  context.outputs[0] = Tensor::of(values, x.shape()).cast(x.dtype());

  const auto dtype = static_cast<DType>(context.attributes().get_int("stash_type"));
  Shape shape = x.shape();
  std::fill(shape.begin() + axis, shape.end(), 1);
  std::vector<double> means, deviations;
  for (const Statistics& s : statistics) {
    means.push_back(s.mean);
    deviations.push_back(1 / std::sqrt(s.variance + epsilon));
  }
  if (context.node.has_output(1)) context.outputs[1] = Tensor::of(means, shape).cast(dtype);
  if (context.node.has_output(2)) context.outputs[2] = Tensor::of(deviations, shape).cast(dtype);
}

/// (x - mean) / (standard deviation + 1e-9) over `axes`, the formula of the operator's function body.
void mean_variance_normalization(KernelContext& context) {
  const Tensor& x = context.input(0);
  const auto axes = distinct_axes(context.attributes().get_ints("axes"), x.rank());
  Shape kept = x.shape();
  for (const int64_t axis : axes) kept[static_cast<size_t>(axis)] = 1;
  const Shape strides = tensor::broadcast_strides(kept, x.shape());
  auto values = x.to_double();
  const auto cells = static_cast<size_t>(tensor::element_count(kept));
  const double count = static_cast<double>(values.size()) / static_cast<double>(cells);
  std::vector<double> mean(cells, 0);
  std::vector<double> variance(cells, 0);
  const auto visit = [&](auto&& f) {
    size_t next = 0;
    walk<1>(x.shape(), {strides}, {0},
            [&](const auto& at) { f(values[next++], static_cast<size_t>(at[0])); });
  };
  visit([&](double value, size_t cell) { mean[cell] += value / count; });
  visit([&](double value, size_t cell) {
    variance[cell] += (value - mean[cell]) * (value - mean[cell]) / count;
  });
  visit(
      [&](double& value, size_t cell) { value = (value - mean[cell]) / (std::sqrt(variance[cell]) + 1e-9); });
  context.outputs[0] = Tensor::of(values, x.shape()).cast(x.dtype());
}

constexpr KernelEntry kKernels[] = {
    {"BatchNormalization", batch_normalization},
    {"GroupNormalization", group_normalization},
    {"InstanceNormalization", instance_normalization},
    {"LayerNormalization", layer_normalization},
    {"MeanVarianceNormalization", mean_variance_normalization},
};

}  // namespace

std::span<const KernelEntry> normalization_kernels() {
  static const auto kAll = join_parts({kKernels, local_normalization_kernels()});
  return kAll;
}

}  // namespace hone::reference
