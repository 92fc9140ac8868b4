// See answers.hpp.
#include "report/answers.hpp"

#include <algorithm>

#include "report/answers_schema.hpp"
#include "trace/cut.hpp"

namespace hone::report {
namespace {

/// True for fields that every answer contains.
bool always(std::string_view field) {
  return field == "schema" || field == "version" || field == "trace" || field == "doubts";
}

}  // namespace

Answers::Answers(std::string path, trace::Trace trace, const analysis::AnalyzeOptions& options)
    : path_(std::move(path)),
      trace_(std::move(trace)),
      steps_(analysis::find_steps(trace_)),
      analyses_(analysis::analyze(trace_, options)) {
  if (!options.chooses_steps()) return;
  steps_ = analysis::select_steps(std::move(steps_), options.first_step, options.last_step);
  chosen_ = trace::clipped(trace_, analysis::window_of(steps_));
}

LayerAnswers Answers::layers() const {
  return {analysis::analyze_layers(trace_, steps_), analysis::analyze_layer_threads(window())};
}

const DependencyAnswers& Answers::dependencies() const {
  if (!dependencies_) {
    const analysis::EventGraph graph = analysis::build_event_graph(window());
    dependencies_ = {analysis::critical_path(graph), analysis::what_if(graph)};
  }
  return *dependencies_;
}

analysis::IdleTime Answers::idle() const {
  return analysis::idle_time(window(), analysis::window_of(steps_));
}

Json to_json(const Answers& answers, const std::vector<std::string>& only) {
  return base::described_json_of(answers, [&](std::string_view field) {
    return only.empty() || always(field) || std::find(only.begin(), only.end(), field) != only.end();
  });
}

}  // namespace hone::report
