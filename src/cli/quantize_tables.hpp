// Tables of `hone quantize`: the layers, and the models that were tried for a budget.
#pragma once

#include <string>
#include <vector>

#include "quantize/placement.hpp"
#include "quantize/report.hpp"
#include "report/terminal/sheet.hpp"

namespace hone::cli {

/// Layers that could run in int8; layers with the largest effect on the outputs come first.
report::Sheet layers_sheet(const quantize::Report& report);

/// The models that were tried for a budget, fastest first.
report::Sheet front_sheet(const quantize::Report& report);

/// Returns one line for each reason, with the first product that it keeps in floating point and the number of
/// the others.
std::vector<std::string> kept_lines(const std::vector<quantize::FloatProduct>& kept);

/// Returns "90.12 % of labels (fp32: 90.40 %), error 0.81 %, cosine 0.99981", with only the parts that are
/// known.
std::string accuracy_text(const quantize::ReportAccuracy& accuracy);

}  // namespace hone::cli
