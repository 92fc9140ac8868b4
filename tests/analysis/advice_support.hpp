// Asking one rule of advice about a trace written down in a test.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

#include "analysis/analyze.hpp"
#include "support/trace_builder.hpp"

namespace hone::analysis {

/// The advice of the rule; nothing when it has none.
inline std::optional<Advice> advice_of(support::TraceBuilder& builder, std::string_view rule) {
  for (const Advice& advice : analyze(builder.build()).advice.advice) {
    if (advice.rule == rule) return advice;
  }
  return std::nullopt;
}

inline bool is_unjudged(support::TraceBuilder& builder, std::string_view rule) {
  const AdviceList list = analyze(builder.build()).advice;
  return std::any_of(list.unjudged.begin(), list.unjudged.end(),
                     [rule](const Unjudged& unjudged) { return unjudged.rule == rule; });
}

inline std::string all_text(const Advice& advice) {
  std::string text = advice.problem;
  for (const Evidence& evidence : advice.evidence) text += "\n" + evidence.text;
  return text;
}

}  // namespace hone::analysis
