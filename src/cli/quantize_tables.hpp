// Tables of `hone quantize`: layers, and the models that it tried.
#pragma once

#include <string>
#include <vector>

#include "quantize/placement.hpp"
#include "quantize/report.hpp"
#include "report/terminal/sheet.hpp"

namespace hone::cli {

/// Layers that could be in int8, those with the largest effect on the outputs first.
report::Sheet layers_sheet(const quantize::Report& report);

/// The models that were tried for a budget, the fastest first.
report::Sheet front_sheet(const quantize::Report& report);

/// A line for each reason, with the first product that it keeps in floating point and the number of others.
std::vector<std::string> kept_lines(const std::vector<quantize::FloatProduct>& kept);

/// "90.12 % of labels (fp32: 90.40 %), error 0.81 %, cosine 0.99981": what there is.
std::string accuracy_text(const quantize::ReportAccuracy& accuracy);

}  // namespace hone::cli
