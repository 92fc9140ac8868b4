// See verdict_notes.hpp. Reasons that differ only in their numbers are grouped.
#include "report/terminal/verdict_notes.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <map>
#include <string_view>

#include "bench/results/model_names.hpp"

namespace hone::report {
namespace {

struct Advice {
  std::string_view reason;  ///< a part of the reason
  std::string_view text;
};

constexpr auto kAdvice = std::to_array<Advice>({
    {"other processes used", "close them, or trust the speedups, whose runs took turns, more than the times"},
    {"the hypervisor took", "use a machine of your own, or trust the speedups more than the times"},
    {"high variance", "a longer --duration steadies the median"},
    {"drift", "a longer --warmup and --duration even it out"},
    {"too few for", "give a longer --duration or more --iterations"},
    {"still changing", "give a longer --warmup"},
    {"threads share", "give fewer --threads"},
    {"throttled", "let the machine cool down"},
    {"the outputs are wrong", "compare them with --backends reference hone, and report it"},
    {"NaN or infinite", "give real inputs with --input, or trained weights"},
});

/// A reason, split into texts and numbers.
struct Parts {
  std::vector<std::string> texts;  ///< one more than numbers
  std::vector<std::string> numbers;
};

Parts split(const std::string& reason) {
  Parts parts{{""}, {}};
  for (size_t i = 0; i < reason.size();) {
    const bool starts = std::isdigit(static_cast<unsigned char>(reason[i])) != 0;
    const bool in_word = i > 0 && std::isalpha(static_cast<unsigned char>(reason[i - 1])) != 0;
    if (!starts || in_word) {
      parts.texts.back() += reason[i++];
      continue;
    }
    size_t end = i;
    while (end < reason.size() && (std::isdigit(static_cast<unsigned char>(reason[end])) != 0 ||
                                   (reason[end] == '.' && end + 1 < reason.size() &&
                                    std::isdigit(static_cast<unsigned char>(reason[end + 1])) != 0)))
      ++end;
    parts.numbers.push_back(reason.substr(i, end - i));
    parts.texts.emplace_back();
    i = end;
  }
  return parts;
}

double value_of(const std::string& number) {
  double value = 0;
  std::from_chars(number.data(), number.data() + number.size(), value);
  return value;
}

struct Kind {
  std::vector<std::string> texts;
  std::vector<std::string> least;
  std::vector<std::string> most;
  std::vector<std::string> runs;

  void add(const Parts& parts, const std::string& run) {
    if (runs.empty()) least = most = parts.numbers;
    for (size_t i = 0; i < parts.numbers.size(); ++i) {
      if (value_of(parts.numbers[i]) < value_of(least[i])) least[i] = parts.numbers[i];
      if (value_of(parts.numbers[i]) > value_of(most[i])) most[i] = parts.numbers[i];
    }
    runs.push_back(run);
  }
  std::string text() const {
    std::string result = texts.front();
    for (size_t i = 0; i < least.size(); ++i)
      result += (least[i] == most[i] ? least[i] : fmt::format("{} to {}", least[i], most[i])) + texts[i + 1];
    return result;
  }
};

std::string advice_for(const std::string& reason) {
  for (const Advice& advice : kAdvice) {
    if (reason.find(advice.reason) != std::string::npos) return fmt::format("; {}", advice.text);
  }
  return "";
}

/// "all 12 runs", "both runs", "4 of 12 runs", or a few names.
std::string who(const Kind& kind, size_t measured) {
  constexpr size_t kFew = 2;
  if (kind.runs.size() == measured && measured > 1)
    return measured == 2 ? "both runs" : fmt::format("all {} runs", measured);
  if (kind.runs.size() <= kFew) return fmt::format("{}", fmt::join(kind.runs, ", "));
  return fmt::format("{} of {} runs", kind.runs.size(), measured);
}

}  // namespace

std::vector<std::string> verdict_notes(std::span<const bench::RunRecord> runs) {
  std::vector<std::string> models;
  for (const bench::RunRecord& run : runs) models.push_back(run.setup.model);
  const std::map<std::string, std::string> names = bench::short_names(models);
  std::vector<Kind> kinds;
  size_t measured = 0;
  for (const bench::RunRecord& run : runs) {
    measured += run.measured() ? 1 : 0;
    if (!run.measured() || run.verdict.valid) continue;
    for (const std::string& reason : run.verdict.reasons) {
      const Parts parts = split(reason);
      auto found = std::find_if(kinds.begin(), kinds.end(),
                                [&](const Kind& kind) { return kind.texts == parts.texts; });
      if (found == kinds.end()) found = kinds.insert(kinds.end(), Kind{.texts = parts.texts});
      bench::Setup named = run.setup;
      named.model = names.at(named.model);
      found->add(parts, named.text());
    }
  }
  std::vector<std::string> notes;
  for (const Kind& kind : kinds) {
    const std::string reason = kind.text();
    notes.push_back(fmt::format("INVALID, {}: {}{}", who(kind, measured), reason, advice_for(reason)));
  }
  return notes;
}

}  // namespace hone::report
