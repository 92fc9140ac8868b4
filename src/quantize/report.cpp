// See report.hpp.
#include "quantize/report.hpp"

#include <algorithm>
#include <set>

namespace hone::quantize {
namespace {

constexpr size_t kBins = 64;

ReportHistogram histogram_of(const Histogram& histogram) {
  const Histogram::Signed values = histogram.values();
  const size_t merged = std::max<size_t>((values.bins.size() + kBins - 1) / kBins, 1);
  ReportHistogram result{
      values.first * histogram.width(), static_cast<double>(merged) * histogram.width(), {}};
  result.counts.resize((values.bins.size() + merged - 1) / merged);
  for (size_t i = 0; i < values.bins.size(); ++i) result.counts[i / merged] += values.bins[i];
  return result;
}

ReportAccuracy accuracy_of(const Accuracy& accuracy) {
  return {accuracy.samples, accuracy.loss(), accuracy.doubt(), accuracy.relative_error,
          accuracy.cosine,  accuracy.top1,   accuracy.right,   accuracy.right_before};
}

const std::string& layer_name(const Subject& subject, const Quantized& result, size_t layer) {
  return subject.graph.nodes[static_cast<size_t>(result.whole.weighted[layer].node)].name;
}

std::vector<ReportLayer> layers_of(const Subject& subject, const Calibration& calibration,
                                   const Quantized& result) {
  std::set<int32_t> in_int8;
  for (const WeightedNode& weighted : result.placement.weighted) in_int8.insert(weighted.node);
  std::vector<ReportLayer> layers;
  for (size_t i = 0; i < result.whole.weighted.size(); ++i) {
    const int32_t index = result.whole.weighted[i].node;
    const graph::Node& node = subject.graph.nodes[static_cast<size_t>(index)];
    const auto value = std::ranges::find_if(
        result.whole.values, [&](const QuantizedValue& v) { return v.value == node.inputs[0]; });
    const auto at = static_cast<size_t>(value - result.whole.values.begin());
    const Histogram& histogram = calibration.tensors[at].histogram;
    const ChosenRange& chosen = result.ranges[at];
    ReportLayer layer{node.name,
                      node.op,
                      in_int8.contains(index) ? "int8" : "float",
                      subject.graph.value(node.inputs[0]).name,
                      std::string(calibrator_name(chosen.calibrator)),
                      chosen.range.low,
                      chosen.range.high,
                      clipped_share(histogram, chosen.range),
                      histogram_of(histogram),
                      {},
                      {},
                      {},
                      {},
                      {},
                      {}};
    if (result.budget) {
      const Sensitivity& measured = result.budget->layers[i];
      layer.own_error = measured.own_error;
      layer.output_error = measured.output_error;
      layer.effect = measured.effect;
      layer.changed = measured.changed;
      layer.float_us = result.budget->times.layers[i].floating;
      layer.int8_us = result.budget->times.layers[i].int8;
    }
    layers.push_back(std::move(layer));
  }
  return layers;
}

}  // namespace

double clipped_share(const Histogram& histogram, const Range& range) {
  const Histogram::Signed values = histogram.values();
  double outside = 0;
  for (size_t i = 0; i < values.bins.size(); ++i) {
    const double low = (values.first + static_cast<double>(i)) * histogram.width();
    // The bin that contains an end of the range counts as inside.
    if (low >= range.high || low + histogram.width() <= range.low) outside += values.bins[i];
  }
  return histogram.count() > 0 ? outside / static_cast<double>(histogram.count()) : 0;
}

Report report_of(const Subject& subject, const Calibration& calibration, const Quantized& result,
                 std::optional<double> budget, const std::string& model, const std::string& target) {
  Report report;
  report.format = "hone quantize report";
  report.model = model;
  report.target = target;
  report.samples = calibration.samples;
  report.int8_share = result.placement.int8_share;
  if (result.accuracy) report.accuracy = accuracy_of(*result.accuracy);
  report.layers = layers_of(subject, calibration, result);
  report.budget = budget;
  if (!result.budget) return report;
  const BudgetResult& found = *result.budget;
  report.met = found.choice.met;
  report.estimated_times = found.times.estimated;
  for (size_t i = 0; i < found.choice.tried.size(); ++i) {
    const MixedModel& tried = found.choice.tried[i];
    ReportModel one{{}, tried.time, accuracy_of(tried.accuracy), tried.on_front, i == found.choice.chosen};
    for (const size_t layer : tried.kept) one.floating.push_back(layer_name(subject, result, layer));
    report.models.push_back(std::move(one));
  }
  return report;
}

}  // namespace hone::quantize
