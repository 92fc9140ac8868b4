// Fields of advice.
#pragma once

#include "analysis/advice/advice.hpp"
#include "analysis/schema/times.hpp"

namespace hone::base {

template <>
struct Description<analysis::Evidence> {
  using Evidence = analysis::Evidence;
  static constexpr std::string_view kName = "Evidence";
  static constexpr auto kFields =
      std::tuple{Field{"text", &Evidence::text, "A fact with its numbers"},
                 Field{"start_ns", &Evidence::start, "Where that shows in the trace, if in one place",
                       unit::kNs, origin::kMeasured},
                 Field{"end_ns", &Evidence::end, "Where that shows in the trace, if in one place", unit::kNs,
                       origin::kMeasured}};
};

template <>
struct Description<analysis::Advice> {
  using Advice = analysis::Advice;
  static constexpr std::string_view kName = "Advice";
  static constexpr auto kFields =
      std::tuple{Field{"rule", &Advice::rule, "Name of the rule that found it"},
                 Field{"problem", &Advice::problem, "What costs time"},
                 Field{"evidence", &Advice::evidence, "Why that is so"},
                 Field{"action", &Advice::action, "What to do about it"},
                 Field{"gain_at_best_ns",
                       [](const Advice& a) { return a.gain > 0 ? std::optional(a.gain) : std::nullopt; },
                       "Time of the window that could be saved at best", unit::kNs, origin::kEstimated},
                 Field{"gain_basis", &Advice::gain_basis, "The basis of the gain"}};
};

template <>
struct Description<analysis::Unjudged> {
  static constexpr std::string_view kName = "Unjudged";
  static constexpr auto kFields =
      std::tuple{Field{"rule", &analysis::Unjudged::rule, "Name of the rule"},
                 Field{"reason", &analysis::Unjudged::reason, "What the trace lacks to decide it"}};
};

template <>
struct Description<analysis::AdviceList> {
  using List = analysis::AdviceList;
  static constexpr std::string_view kName = "AdviceList";
  static constexpr auto kFields =
      std::tuple{Field{"start_ns", [](const List& list) { return list.window.start; }, "Begin of the window",
                       unit::kNs, origin::kMeasured},
                 Field{"end_ns", [](const List& list) { return list.window.end; }, "End of the window",
                       unit::kNs, origin::kMeasured},
                 Field{"rules", &List::rules, "Rules that were asked", unit::kCount, origin::kMeasured},
                 Field{"advice", &List::advice, "The largest gain first"},
                 Field{"unjudged", &List::unjudged, "Rules that found too little in the trace to decide"}};
};

}  // namespace hone::base
