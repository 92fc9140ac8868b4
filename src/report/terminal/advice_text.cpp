// Advice and doubts in sentences; see trace_tables.hpp.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "analysis/names.hpp"
#include "base/units.hpp"
#include "report/terminal/trace_tables.hpp"

namespace hone::report {
namespace {

using analysis::Advice;
using analysis::Evidence;
using analysis::length;
using base::share_text;
using base::time_text;

void append(std::vector<std::string>* lines, const std::string& text, size_t width, size_t indent) {
  for (std::string& line : wrap(text, width, indent)) lines->push_back(std::move(line));
}

std::string gain_text(const Advice& advice, const analysis::AdviceList& list) {
  if (advice.gain <= 0) return "no estimate: " + advice.gain_basis;
  const auto window = static_cast<double>(length(list.window));
  return fmt::format("{}, {}: {}", time_text(advice.gain), share_text(advice.gain / window),
                     advice.gain_basis);
}

std::string evidence_text(const Evidence& evidence, trace::Time origin) {
  if (length(evidence.place) <= 0) return evidence.text;
  return fmt::format("{}, at {}", evidence.text,
                     time_text(static_cast<double>(evidence.place.start - origin)));
}

/// Groups rules by reason, in the order of their first rules.
std::vector<std::pair<std::string, std::vector<std::string>>> rules_by_reason(
    const std::vector<analysis::Unjudged>& unjudged) {
  std::vector<std::pair<std::string, std::vector<std::string>>> reasons;
  for (const analysis::Unjudged& rule : unjudged) {
    const auto same = std::find_if(reasons.begin(), reasons.end(),
                                   [&](const auto& reason) { return reason.first == rule.reason; });
    if (same == reasons.end()) {
      reasons.push_back({rule.reason, {rule.rule}});
    } else {
      same->second.push_back(rule.rule);
    }
  }
  return reasons;
}

}  // namespace

std::vector<std::string> advice_text(const analysis::AdviceList& list, trace::Time origin, size_t width) {
  std::vector<std::string> lines = {"Advice"};
  if (list.advice.empty())
    append(&lines,
           fmt::format("No advice: none of the {} rules that apply to this trace fired.",
                       list.rules - static_cast<int64_t>(list.unjudged.size())),
           width, 0);
  for (size_t i = 0; i < list.advice.size(); ++i) {
    const Advice& advice = list.advice[i];
    append(&lines, fmt::format("{}. {} ({})", i + 1, advice.problem, advice.rule), width, 3);
    for (const Evidence& evidence : advice.evidence)
      append(&lines, "   - " + evidence_text(evidence, origin), width, 5);
    append(&lines, "   Gain at best: " + gain_text(advice, list), width, 5);
    append(&lines, "   How: " + advice.action, width, 5);
  }
  if (list.advice.size() > 1)
    lines.emplace_back("Gains overlap and do not add up. Times are counted from the start of the trace.");
  // Long lists of names do not help a reader; the JSON output contains them.
  constexpr size_t kFew = 4;
  for (const auto& [reason, rules] : rules_by_reason(list.unjudged)) {
    const std::string which = rules.size() > kFew ? fmt::format("{} rules", rules.size())
                                                  : fmt::format("{}", fmt::join(rules, ", "));
    append(&lines, fmt::format("Not judged: {}: {}.", which, reason), width, 2);
  }
  return lines;
}

std::vector<Sheet> advice_sheets(const analysis::AdviceList& list) {
  Sheet sheet{"Advice",
              {{"Rule", "", false},
               {"Gain at best", "ns"},
               {"Problem", "", false},
               {"Evidence", "", false},
               {"Action", "", false},
               {"Gain basis", "", false}},
              {},
              {}};
  for (const Advice& advice : list.advice) {
    std::vector<std::string> evidence;
    for (const Evidence& fact : advice.evidence) evidence.push_back(fact.text);
    sheet.rows.push_back({text_cell(advice.rule), advice.gain > 0 ? time_cell(advice.gain) : no_cell(),
                          text_cell(advice.problem), text_cell(fmt::format("{}", fmt::join(evidence, "; "))),
                          text_cell(advice.action), text_cell(advice.gain_basis)});
  }
  return {sheet};
}

std::vector<std::string> doubt_text(const std::vector<trace::Doubt>& doubts, size_t width) {
  if (doubts.empty()) return {"No events were lost, and nothing is in doubt."};
  std::vector<const trace::Doubt*> ordered;
  for (const trace::Doubt& doubt : doubts) ordered.push_back(&doubt);
  std::stable_sort(ordered.begin(), ordered.end(),
                   [](const trace::Doubt* a, const trace::Doubt* b) { return a->severity > b->severity; });
  std::vector<std::string> lines;
  for (const trace::Doubt* doubt : ordered) {
    const std::string count = doubt->count > 0 ? std::to_string(doubt->count) + " " : "";
    append(&lines,
           fmt::format("{}: {}: {}{}", analysis::severity_name(doubt->severity), doubt->about, count,
                       doubt->text),
           width, 2);
  }
  return lines;
}

}  // namespace hone::report
