// See sweep_groups.hpp.
#include "report/plot/sweep_groups.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <set>
#include <tuple>

#include "bench/results/model_names.hpp"
#include "report/ids.hpp"

namespace hone::report {
namespace {

using Numbers = std::map<std::string, size_t>;

/// Assigns numbers to names. A known name always gets its index, so that a backend looks the same in all
/// figures; other names get the lowest numbers that are still free.
Numbers number_names(const std::vector<std::string>& names, const std::vector<std::string>& known) {
  Numbers numbers;
  std::set<size_t> taken;
  for (const std::string& name : names) {
    const auto found = std::find(known.begin(), known.end(), name);
    if (found == known.end()) continue;
    numbers[name] = static_cast<size_t>(found - known.begin());
    taken.insert(numbers[name]);
  }
  size_t next = 0;
  for (const std::string& name : names) {
    if (numbers.contains(name)) continue;
    while (taken.contains(next)) ++next;
    taken.insert(next);
    numbers[name] = next;
  }
  return numbers;
}

/// Colours distinguish backends, and markers distinguish precisions. If all series share one of them, colour
/// and marker both show the other.
class Styles {
 public:
  Styles(const std::vector<SweepRun>& runs, const std::vector<std::string>& backends)
      : backends_(number_names(distinct(runs, &bench::Setup::backend), backends)),
        precisions_(number_names(distinct(runs, &bench::Setup::precision),
                                 {"fp32", "tf32", "bf16", "fp16", "int8"})) {}

  void choose(std::vector<SweepSeries>* series) const {
    const bool several_backends = differ(*series, &bench::Setup::backend);
    const bool several_precisions = differ(*series, &bench::Setup::precision);
    for (SweepSeries& each : *series) {
      const bench::Setup& setup = each.runs.front().setup;
      const size_t backend = backends_.at(setup.backend);
      const size_t precision = precisions_.at(setup.precision);
      const size_t color = several_backends ? backend : precision;
      each.style.color = color % kPaletteColors;
      each.style.marker = (several_precisions ? precision : backend) % kMarkers;
      each.style.dashed = color >= kPaletteColors;
    }
  }

 private:
  static bool differ(const std::vector<SweepSeries>& series, std::string bench::Setup::*name) {
    return std::ranges::any_of(series, [&](const SweepSeries& each) {
      return each.runs.front().setup.*name != series.front().runs.front().setup.*name;
    });
  }

  static std::vector<std::string> distinct(const std::vector<SweepRun>& runs,
                                           std::string bench::Setup::*name) {
    std::vector<std::string> names;
    for (const SweepRun& run : runs) {
      if (std::ranges::find(names, run.setup.*name) == names.end()) names.push_back(run.setup.*name);
    }
    return names;
  }

  Numbers backends_;
  Numbers precisions_;
};

/// Converts "NVIDIA H200" to "nvidia-h200".
std::string slug(const std::string& text) {
  std::string result;
  for (const char c : text) {
    const bool word = std::isalnum(static_cast<unsigned char>(c)) != 0;
    if (word) result += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    if (!word && !result.empty() && result.back() != '-') result += '-';
  }
  while (result.ends_with('-')) result.pop_back();
  return result.empty() ? "unknown" : result;
}

/// The short name of each model that a run names. Paths of one file have one short name.
std::map<std::string, std::string> name_models(const std::vector<SweepRun>& runs) {
  std::map<std::string, std::string> firsts;
  std::vector<std::string> models;
  for (const SweepRun& run : runs) {
    const std::string& named = run.setup.model;
    if (firsts.contains(named)) continue;
    const auto same =
        std::ranges::find_if(models, [&](const auto& model) { return bench::same_model(model, named); });
    firsts[named] = same == models.end() ? named : *same;
    if (same == models.end()) models.push_back(named);
  }
  const std::map<std::string, std::string> names = bench::short_names(models);
  for (auto& [named, model] : firsts) model = names.at(model);
  return firsts;
}

/// The input shapes that are known of each model.
std::map<std::string, std::set<std::string>> known_shapes(const std::vector<SweepRun>& runs,
                                                          const std::map<std::string, std::string>& models) {
  std::map<std::string, std::set<std::string>> known;
  for (const SweepRun& run : runs) {
    if (!run.input_shapes.empty()) known[models.at(run.setup.model)].insert(run.input_shapes);
  }
  return known;
}

/// Splits "ids 1x8, mask 1x8" into its inputs.
std::vector<std::string> split_inputs(const std::string& text) {
  constexpr std::string_view kBetween = ", ";
  std::vector<std::string> inputs;
  size_t begin = 0;
  while (begin < text.size()) {
    const size_t end = std::min(text.find(kBetween, begin), text.size());
    inputs.push_back(text.substr(begin, end - begin));
    begin = end + kBetween.size();
  }
  return inputs;
}

/// "ids 1x8", or "inputs 1x8" if several have one shape: the inputs that not all groups of the model share.
std::string differing_shapes(const SweepGroup& group, const std::vector<SweepGroup>& groups) {
  std::vector<std::string> inputs = split_inputs(group.input_shapes);
  std::set<std::string> others;
  for (const SweepGroup& other : groups) {
    const bool differs = other.model == group.model && other.input_shapes != group.input_shapes;
    if (differs && !other.input_shapes.empty()) others.insert(other.input_shapes);
  }
  if (others.empty()) return "";
  if (inputs.empty()) return "unknown input shapes";
  std::erase_if(inputs, [&](const std::string& input) {
    return std::ranges::all_of(others, [&](const std::string& other) {
      const std::vector<std::string> theirs = split_inputs(other);
      return std::ranges::find(theirs, input) != theirs.end();
    });
  });
  std::set<std::string> shapes;
  for (const std::string& input : inputs) shapes.insert(input.substr(input.rfind(' ') + 1));
  if (inputs.size() > 1 && shapes.size() == 1) return "inputs " + *shapes.begin();
  return fmt::format("{}", fmt::join(inputs, ", "));
}

/// The parts of a file name that can distinguish groups of one model.
std::array<std::string, 7> qualifiers(const SweepGroup& group, const std::vector<SweepGroup>& groups) {
  const bench::Setup& s = group.setup;
  const std::string shapes = differing_shapes(group, groups);
  return {shapes.empty() ? "" : slug(shapes),
          slug(s.device),
          slug(group.processor),
          fmt::format("{}-threads", s.threads),
          s.transfers ? "transfers" : "",
          s.cold_l2 ? "cold-l2" : "",
          s.busy > 0 ? fmt::format("{}-busy", s.busy) : ""};
}

/// A qualifier becomes part of the name only if groups that agree in all previous qualifiers differ in it.
std::string qualified_name(const SweepGroup& group, const std::vector<SweepGroup>& groups) {
  const auto own = qualifiers(group, groups);
  std::string name = group.model;
  std::ranges::replace(name, '/', '-');
  for (size_t i = 0; i < own.size(); ++i) {
    const bool differs = std::any_of(groups.begin(), groups.end(), [&](const SweepGroup& other) {
      const auto theirs = qualifiers(other, groups);
      return other.model == group.model && theirs[i] != own[i] &&
             std::equal(own.begin(), own.begin() + static_cast<long>(i), theirs.begin());
    });
    if (differs && !own[i].empty()) name += "-" + own[i];
  }
  return name;
}

void name_groups(std::vector<SweepGroup>* groups) {
  Ids ids;
  for (SweepGroup& group : *groups) {
    const std::string shapes = differing_shapes(group, *groups);
    group.name = ids.take(qualified_name(group, *groups));
    group.subject = group.model + (shapes.empty() ? "" : " (" + shapes + ")");
  }
}

std::string dates_text(const SweepGroup& group) {
  std::set<std::string> days;
  for (const SweepSeries& series : group.series) {
    for (const SweepRun& run : series.runs) {
      if (!run.date.empty()) days.insert(run.date.substr(0, 10));
    }
  }
  if (days.empty()) return "";
  return days.size() == 1 ? ", " + *days.begin() : fmt::format(", {} to {}", *days.begin(), *days.rbegin());
}

std::string machine_text(const SweepGroup& group) {
  const bench::Setup& s = group.setup;
  const bool cpu = s.on_cpu();
  std::string text =
      group.processor.empty() ? fmt::format("an unknown {}", cpu ? "CPU" : "GPU") : group.processor;
  if (cpu) text += fmt::format(", {} thread{}", s.threads, s.threads == 1 ? "" : "s");
  if (!cpu) text += s.transfers ? ", with data transfers" : ", inputs already on the device";
  if (s.cold_l2) text += ", cold L2";
  if (s.busy > 0) text += fmt::format(", {} busy", s.busy);
  return text + dates_text(group);
}

/// Adds the run to its series. If the series already has a run with this batch, the newer one is kept, and
/// the function returns true.
bool add_run(const SweepRun& run, SweepGroup* group) {
  const auto series = std::find_if(group->series.begin(), group->series.end(),
                                   [&](const SweepSeries& s) { return s.name == run.series(); });
  if (series == group->series.end()) {
    group->series.push_back({run.series(), {}, {run}});
    return false;
  }
  const auto place = std::lower_bound(series->runs.begin(), series->runs.end(), run.setup.batch,
                                      [](const SweepRun& r, int64_t batch) { return r.setup.batch < batch; });
  if (place == series->runs.end() || place->setup.batch != run.setup.batch) {
    series->runs.insert(place, run);
    return false;
  }
  if (place->date <= run.date) *place = run;
  return true;
}

}  // namespace

std::vector<SweepGroup> group_runs(const std::vector<SweepRun>& runs,
                                   const std::vector<std::string>& backends) {
  const std::map<std::string, std::string> models = name_models(runs);
  const std::map<std::string, std::set<std::string>> known = known_shapes(runs, models);
  std::vector<SweepGroup> groups;
  std::map<std::tuple<std::string, std::string, std::string, bench::Setup>, size_t> places;
  std::vector<size_t> repeated;
  for (const SweepRun& run : runs) {
    const bench::Setup common =
        bench::comparable_part(run.setup, {.model = true, .system = true, .batch = true});
    const std::string& model = models.at(run.setup.model);
    std::string shapes = run.input_shapes;
    const auto only = known.find(model);
    if (shapes.empty() && only != known.end() && only->second.size() == 1) shapes = *only->second.begin();
    const auto [place, fresh] = places.try_emplace({model, shapes, run.processor, common}, groups.size());
    if (fresh) {
      groups.push_back({"", model, shapes, "", "", common, run.processor, {}, {}});
      repeated.push_back(0);
    }
    repeated[place->second] += add_run(run, &groups[place->second]) ? 1 : 0;
  }
  name_groups(&groups);
  const Styles styles(runs, backends);
  for (size_t i = 0; i < groups.size(); ++i) {
    styles.choose(&groups[i].series);
    groups[i].machine = machine_text(groups[i]);
    if (repeated[i] == 0) continue;
    groups[i].notes.push_back(fmt::format(
        "Without {} of the same configurations: the newest is shown.",
        repeated[i] == 1 ? "1 earlier measurement" : fmt::format("{} earlier measurements", repeated[i])));
  }
  return groups;
}

}  // namespace hone::report
