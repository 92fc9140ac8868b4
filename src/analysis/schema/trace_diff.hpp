// Fields of the comparison of two recordings.
#pragma once

#include "analysis/questions/trace_diff.hpp"
#include "analysis/schema/times.hpp"

namespace hone::base {

template <>
struct Description<analysis::Estimate> {
  using Estimate = analysis::Estimate;
  static constexpr std::string_view kName = "Estimate";
  static constexpr auto kFields = std::tuple{
      Field{"mean_ns", &Estimate::mean, "Mean over iterations", unit::kNs, origin::kMeasured},
      Field{"half_width_ns", &Estimate::half_width,
            "Half the width of its 95 % confidence interval (Student's t); none from one iteration",
            unit::kNs, origin::kEstimated}};
};

template <>
struct Description<analysis::MatchedLayers> {
  using Match = analysis::MatchedLayers;
  static constexpr std::string_view kName = "MatchedLayers";
  static constexpr auto kFields = std::tuple{
      Field{"a", &Match::a, "Layers of A"},
      Field{"b", &Match::b, "Layers of B that compute the same nodes of the model"},
      Field{"kernels_a", &Match::kernels_a, "Kernels of A's layers"},
      Field{"kernels_b", &Match::kernels_b, "Kernels of B's layers"},
      Field{"time_a", &Match::time_a, "Their time in one iteration of A", unit::kNs, origin::kMeasured},
      Field{"time_b", &Match::time_b, "Their time in one iteration of B", unit::kNs, origin::kMeasured},
      Field{"change_ns", &Match::change, "B minus A", unit::kNs, origin::kMeasured},
      Field{"reasons", &Match::reasons, "What the two do otherwise"},
      Field{"certain", &Match::certain,
            "True if that is more than noise: the confidence intervals lie apart"}};
};

template <>
struct Description<analysis::KernelExchange> {
  using Exchange = analysis::KernelExchange;
  static constexpr std::string_view kName = "KernelExchange";
  static constexpr auto kFields =
      std::tuple{Field{"a", &Exchange::a, "Kernels of A, by the functions' own names"},
                 Field{"b", &Exchange::b, "Kernels of B that ran in place of them"},
                 Field{"layers", &Exchange::layers, "Groups of matched layers in which they did",
                       unit::kCount, origin::kMeasured},
                 Field{"time_a_ns", &Exchange::time_a, "Time of these layers in one iteration of A",
                       unit::kNs, origin::kMeasured},
                 Field{"time_b_ns", &Exchange::time_b, "Time of these layers in one iteration of B",
                       unit::kNs, origin::kMeasured},
                 Field{"change_ns", &Exchange::change, "B minus A", unit::kNs, origin::kMeasured}};
};

template <>
struct Description<analysis::WaterfallBar> {
  using Bar = analysis::WaterfallBar;
  static constexpr std::string_view kName = "WaterfallBar";
  static constexpr auto kFields =
      std::tuple{Field{"name", &Bar::name, "What the time was spent on"},
                 Field{"change_ns", &Bar::change, "B minus A", unit::kNs, origin::kMeasured}};
};

template <>
struct Description<analysis::TraceDiff> {
  using Diff = analysis::TraceDiff;
  static constexpr std::string_view kName = "TraceDiff";
  static constexpr auto kFields = std::tuple{
      Field{"iteration_a", &Diff::iteration_a, "An iteration of A"},
      Field{"iteration_b", &Diff::iteration_b, "An iteration of B"},
      Field{"trend_a_ns", &Diff::trend_a, "Growth of A's iterations from one to the next", unit::kNs,
            origin::kEstimated},
      Field{"trend_b_ns", &Diff::trend_b, "Growth of B's iterations from one to the next", unit::kNs,
            origin::kEstimated},
      Field{"speedup", &Diff::speedup_ratio,
            "A's time by B's: above 1, B is faster; none where one has no time", unit::kRatio,
            origin::kMeasured},
      Field{"speedup_interval", &Diff::speedup_interval,
            "Interval of the speedup, 95 % at least; none of too few runs", unit::kRatio, origin::kEstimated},
      Field{"speedup_undisturbed", &Diff::speedup_undisturbed,
            "True if the speedup is of runs that nothing recorded, else of the recorded iterations"},
      Field{"waterfall", &Diff::waterfall, "From A to B: changes that add up to the difference exactly"},
      Field{"layers", &Diff::layers, "The largest change first"},
      Field{"kernels", &Diff::kernels, "Kernels that took the place of others, the largest change first"},
      Field{"notes", &Diff::notes, "What the comparison leaves out"}};
};

}  // namespace hone::base
