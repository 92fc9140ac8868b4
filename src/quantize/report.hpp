// Reports the effects of quantization on each layer and on the whole model, for people and as JSON.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/described.hpp"
#include "quantize/quantize.hpp"

namespace hone::quantize {

/// A histogram of a layer's input values.
struct ReportHistogram {
  double low = 0;    ///< start of the first bin
  double width = 0;  ///< width of a bin
  std::vector<double> counts;
};

/// One convolution or product that could be in int8.
struct ReportLayer {
  std::string name;
  std::string op;
  std::string precision;  ///< "int8" or "float"
  std::string tensor;
  std::string calibrator;
  double low = 0;
  double high = 0;
  double clipped = 0;
  ReportHistogram histogram;
  std::optional<double> own_error;
  std::optional<double> output_error;
  std::optional<double> effect;
  std::optional<double> changed;
  std::optional<double> float_us;
  std::optional<double> int8_us;
};

struct ReportAccuracy {
  int64_t samples = 0;
  double loss = 0;
  double doubt = 0;
  double relative_error = 0;
  double cosine = 0;
  std::optional<double> top1;
  std::optional<double> right;
  std::optional<double> right_before;
};

struct ReportModel {
  std::vector<std::string> floating;
  double time_us = 0;
  ReportAccuracy accuracy;
  bool on_front = false;
  bool chosen = false;
};

struct Report {
  std::string format;
  int64_t version = 1;
  std::string model;
  std::string target;
  int64_t samples = 0;
  double int8_share = 0;
  std::optional<ReportAccuracy> accuracy;
  std::optional<double> budget;
  std::optional<bool> met;
  std::optional<bool> estimated_times;
  std::vector<ReportLayer> layers;
  std::vector<ReportModel> models;
};

/// `model` and `target` are the names that the user gave.
Report report_of(const Subject& subject, const Calibration& calibration, const Quantized& result,
                 std::optional<double> budget, const std::string& model, const std::string& target);

/// The share of the values outside a range, accurate to one bin.
double clipped_share(const Histogram& histogram, const Range& range);

}  // namespace hone::quantize

namespace hone::base {

template <>
struct Description<quantize::ReportHistogram> {
  using T = quantize::ReportHistogram;
  static constexpr std::string_view kName = "QuantizeHistogram";
  static constexpr std::tuple kFields{
      Field{"low", &T::low, "where the first bin begins"},
      Field{"width", &T::width, "of a bin"},
      Field{"counts", &T::counts, "values in each bin", unit::kCount},
  };
};

template <>
struct Description<quantize::ReportLayer> {
  using T = quantize::ReportLayer;
  static constexpr std::string_view kName = "QuantizeLayer";
  static constexpr std::tuple kFields{
      Field{"name", &T::name, "of the model's node"},
      Field{"op", &T::op, "its operator"},
      Field{"precision", &T::precision, "int8 or float"},
      Field{"tensor", &T::tensor, "the value that it reads"},
      Field{"calibrator", &T::calibrator, "what chose the range"},
      Field{"low", &T::low, "least value that integers stand for"},
      Field{"high", &T::high, "greatest value that integers stand for"},
      Field{"clipped", &T::clipped, "values outside the range", unit::kShare, origin::kMeasured},
      Field{"histogram", &T::histogram, "of the value that it reads"},
      Field{"own_error", &T::own_error, "relative error of its result, if only this layer is quantized",
            unit::kRatio, origin::kMeasured},
      Field{"output_error", &T::output_error,
            "relative error of the model's outputs, if only this layer is quantized", unit::kRatio,
            origin::kMeasured},
      Field{
          "effect",
          &T::effect,
          "with labels |change of the cross entropy|, of class scores the divergence of their softmax, else "
          "output_error squared",
          {},
          origin::kMeasured},
      Field{"changed", &T::changed, "rows with another top class, quantized alone", unit::kShare,
            origin::kMeasured},
      Field{"float_us", &T::float_us, "microseconds in floating point"},
      Field{"int8_us", &T::int8_us, "microseconds in int8"},
  };
};

template <>
struct Description<quantize::ReportAccuracy> {
  using T = quantize::ReportAccuracy;
  static constexpr std::string_view kName = "QuantizeAccuracy";
  static constexpr std::tuple kFields{
      Field{"samples", &T::samples, "it was measured on", unit::kCount},
      Field{"loss", &T::loss, "what a budget limits", unit::kShare, origin::kMeasured},
      Field{"doubt", &T::doubt, "half the width of its 95 % interval", unit::kShare},
      Field{"relative_error", &T::relative_error, "of the outputs", unit::kRatio, origin::kMeasured},
      Field{"cosine", &T::cosine, "the least of all outputs", {}, origin::kMeasured},
      Field{"top1", &T::top1, "rows with the same top class as the original", unit::kShare,
            origin::kMeasured},
      Field{"right", &T::right, "rows whose top class is the label's", unit::kShare, origin::kMeasured},
      Field{"right_before", &T::right_before, "the same of the original", unit::kShare, origin::kMeasured},
  };
};

template <>
struct Description<quantize::ReportModel> {
  using T = quantize::ReportModel;
  static constexpr std::string_view kName = "QuantizeModel";
  static constexpr std::tuple kFields{
      Field{"floating", &T::floating, "layers in floating point"},
      Field{"time_us", &T::time_us,
            "the sum of its steps' times in microseconds, added up from those of layers"},
      Field{"accuracy", &T::accuracy, "against the original"},
      Field{"on_front", &T::on_front, "no other one is as accurate and as fast, and better in one of both"},
      Field{"chosen", &T::chosen, "what was written"},
  };
};

template <>
struct Description<quantize::Report> {
  using T = quantize::Report;
  static constexpr std::string_view kName = "QuantizeReport";
  static constexpr std::tuple kFields{
      Field{"format", &T::format, "hone quantize report"},
      Field{"version", &T::version, "of this format"},
      Field{"model", &T::model, "that was quantized"},
      Field{"target", &T::target, "whose kernels it is for"},
      Field{"samples", &T::samples, "of the calibration", unit::kCount},
      Field{"int8_share", &T::int8_share, "of the multiply-adds of convolutions and products", unit::kShare},
      Field{"accuracy", &T::accuracy, "of the written model"},
      Field{"budget", &T::budget, "the most that accuracy.loss may be", unit::kShare},
      Field{"met", &T::met, "whether it is"},
      Field{"estimated_times", &T::estimated_times, "times are those of a cost model, not of a clock"},
      Field{"layers", &T::layers, "that could be in int8"},
      Field{"models", &T::models, "that were tried for the budget, the fastest first"},
  };
};

}  // namespace hone::base
