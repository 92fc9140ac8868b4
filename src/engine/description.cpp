// See description.hpp.
#include "engine/description.hpp"

#include <algorithm>
#include <set>

#include "engine/program/predecessors.hpp"
#include "engine/subgraph_plans.hpp"
#include "graph/infer.hpp"
#include "graph/operator.hpp"
#include "graph/region.hpp"

namespace hone::engine {
namespace {

/// The records of the search for the step with this name.
std::vector<TacticRecord> rivals_of(const Engine& engine, const std::string& step) {
  std::vector<TacticRecord> rivals;
  for (const TacticRecord& record : engine.log) {
    if (record.step == step && !(record.chosen && record.samples == 0)) rivals.push_back(record);
  }
  return rivals;
}

/// Adds the post-ops of the node and of the nodes in its body.
void add_post_ops(const graph::Node& node, std::vector<std::string>& post_ops) {
  if (graph::is_region(node)) {
    for (const graph::Node& part : graph::region_body(node).nodes) add_post_ops(part, post_ops);
  } else if (node.attributes.has("post_ops")) {
    const auto& own = node.attributes.get<std::vector<std::string>>("post_ops");
    post_ops.insert(post_ops.end(), own.begin(), own.end());
  }
}

/// Adds properties of a step from the graph, and the records of its search.
void describe_node(const Engine& engine, const graph::Graph& graph, const graph::Node& node,
                   StepDescription& result) {
  add_post_ops(node, result.post_ops);
  if (const auto cost = graph::node_cost(graph, node)) {
    result.flops = cost->flops;
    result.bytes = cost->bytes;
  }
  result.rivals = rivals_of(engine, result.name);
}

/// Counts inputs, weights and outputs once each, in the element types that the step reads and writes. Packed
/// weights count as elements of the type in which the step stores.
double moved_bytes(const graph::Graph& graph, const graph::Node& node, const ProgramStep& step) {
  double bytes = 0;
  for (size_t i = 0; i < step.inputs.size(); ++i) {
    if (step.inputs[i].storage != Operand::Storage::kAbsent) {
      bytes += static_cast<double>(step.inputs[i].desc.bytes());
    } else if (node.inputs[i] != graph::kNoValue && graph.value(node.inputs[i]).constant) {
      bytes += static_cast<double>(graph.value(node.inputs[i]).constant->size()) *
               static_cast<double>(tensor::dtype_size(step.plan.policy.storage));
    }
  }
  for (const Operand& output : step.outputs) {
    if (output.storage != Operand::Storage::kAbsent) bytes += static_cast<double>(output.desc.bytes());
  }
  return bytes;
}

/// `prefix` is prepended to names of steps, for the program of a subgraph.
StepDescription describe_step(const Engine& engine, const Program& program, const ProgramStep& step,
                              const std::string& prefix) {
  StepDescription result{.name = prefix + step.name,
                         .kind = step.kind,
                         .tactic = step.plan.tactic.text(),
                         .sources = step.sources};
  for (const Operand& input : step.inputs) {
    if (input.storage != Operand::Storage::kAbsent && input.desc.dtype != DType::kUndefined)
      result.inputs.push_back(input.desc.text());
  }
  for (const Operand& output : step.outputs) {
    if (output.storage != Operand::Storage::kAbsent && output.desc.dtype != DType::kUndefined)
      result.outputs.push_back(output.desc.text());
  }
  const graph::Node* const node = program.node_of(step);
  if (node == nullptr) return result;
  result.policy = policy_name(step.plan.policy);
  const graph::Node& whole = program.graph().nodes[static_cast<size_t>(step.node)];
  if (step.is_piece()) {
    result.piece_of = graph::kind_of(whole);
    result.whole_refusals = texts_of(step.whole_refusals);
    result.whole_rivals = rivals_of(engine, prefix + whole.name);
  }
  describe_node(engine, program.graph(), *node, result);
  if (step.kernel != nullptr) result.bytes = moved_bytes(program.graph(), *node, step);
  if (step.node_kernel == nullptr) return result;
  for (const SubgraphProgram& inner : step.node_kernel->programs()) {
    const std::string within = subgraph_step_name(result.name, inner.attribute) + "/";
    for (const ProgramStep& part : inner.program->steps())
      result.inner_steps.push_back(describe_step(engine, *inner.program, part, within));
  }
  return result;
}

std::vector<std::string> type_texts(const graph::Graph& graph, const std::vector<graph::ValueId>& ids) {
  std::vector<std::string> texts;
  for (const graph::ValueId id : ids) {
    if (id != graph::kNoValue && graph.constant(id) == nullptr) texts.push_back(graph.value(id).type.text());
  }
  return texts;
}

Json record_json(const TacticRecord& record) {
  Json json = {{"tactic", record.tactic},
               {"layout", layout_name(record.layout)},
               {"policy", policy_name(record.policy)},
               {"chosen", record.chosen}};
  if (record.refusal) {
    json["refusal"] = record.refusal.text();
    return json;
  }
  json["median_us"] = record.median_us;
  json["lower_quartile_us"] = record.lower_quartile_us;
  json["samples"] = record.samples;
  return json;
}

Json records_json(const std::vector<TacticRecord>& records) {
  Json json = Json::array();
  for (const TacticRecord& record : records) json.push_back(record_json(record));
  return json;
}

Json step_json(const StepDescription& step) {
  Json inner = Json::array();
  for (const StepDescription& part : step.inner_steps) inner.push_back(step_json(part));
  return {{"name", step.name},
          {"kind", step.kind},
          {"tactic", step.tactic},
          {"policy", step.policy.empty() ? Json(nullptr) : Json(step.policy)},
          {"sources", step.sources},
          {"piece_of", step.piece_of.empty() ? Json(nullptr) : Json(step.piece_of)},
          {"whole_refusals", step.whole_refusals},
          {"post_ops", step.post_ops},
          {"inputs", step.inputs},
          {"outputs", step.outputs},
          {"flops", step.flops},
          {"bytes", step.bytes},
          {"predecessors", step.predecessors},
          {"rivals", records_json(step.rivals)},
          {"whole_rivals", records_json(step.whole_rivals)},
          {"inner_steps", std::move(inner)}};
}

Json memory_json(const Description& description) {
  if (!description.note.empty()) return nullptr;
  return {
      {"weight_bytes", description.weight_bytes},     {"arena_bytes", description.arena_bytes},
      {"naive_bytes", description.naive_bytes},       {"lower_bound_bytes", description.lower_bound_bytes},
      {"scratch_bytes", description.scratch_bytes},   {"packed_bytes", description.packed_bytes},
      {"constant_bytes", description.constant_bytes}, {"io_bytes", description.io_bytes},
      {"planned_bytes", description.planned_bytes()}};
}

}  // namespace

std::vector<Shape> tuned_shapes(const Engine& engine) {
  std::vector<Shape> shapes;
  for (const graph::ValueId id : engine.graph->inputs) {
    const graph::Value& input = engine.graph->value(id);
    const auto found = engine.shapes.find(input.name);
    if (found == engine.shapes.end())
      fail_usage("input '{}' has no shape; name one with --optShapes", input.name);
    shapes.push_back(found->second.opt);
  }
  return shapes;
}

Description describe(LoadedEngine& loaded, const std::vector<Shape>& shapes) {
  const Engine& engine = loaded.engine();
  const std::shared_ptr<const Program> made = loaded.program(shapes);
  const Program& program = *made;
  Description result;
  std::vector<std::vector<int32_t>> predecessors = find_predecessors(program.steps());
  for (const ProgramStep& step : program.steps()) {
    result.steps.push_back(describe_step(engine, program, step, ""));
    result.steps.back().predecessors = std::move(predecessors[result.steps.size() - 1]);
    result.flops += result.steps.back().flops;
    result.scratch_bytes = std::max(result.scratch_bytes, step.scratch_bytes);
  }
  result.scratch_bytes += program.counter_bytes();
  result.packed_bytes = loaded.packed_bytes();
  result.weight_bytes = result.packed_bytes;
  for (const graph::ValueId id : program.plain_constants()) {
    result.weight_bytes += static_cast<int64_t>(engine.graph->constant(id)->byte_size());
  }
  result.constant_bytes = program.constant_bytes();
  result.io_bytes = program.io_bytes();
  result.arena_bytes = program.memory_plan().peak_bytes;
  result.naive_bytes = program.memory_plan().naive_bytes;
  result.lower_bound_bytes = program.memory_plan().lower_bound_bytes;
  return result;
}

std::string host_steps_note(const Program& program) {
  std::map<std::string, int> kinds;
  int count = 0;
  for (const ProgramStep& step : program.steps()) {
    if (step.runs_on_host()) {
      ++kinds[step.kind];
      ++count;
    }
  }
  if (count == 0) return {};
  std::vector<std::string> names;
  for (const auto& [kind, times] : kinds)
    names.push_back(times == 1 ? kind : fmt::format("{} x {}", times, kind));
  return fmt::format(
      "{} of {} steps {} computed by the host, there being no GPU kernel for {}: {}; the other steps "
      "are CUDA graphs between these",
      count, program.steps().size(), count == 1 ? "is" : "are", count == 1 ? "it" : "them",
      fmt::join(names, ", "));
}

Description describe_record(const Engine& engine) {
  std::map<std::string, Shape> shapes;
  const std::vector<Shape> tuned = tuned_shapes(engine);
  for (size_t i = 0; i < tuned.size(); ++i)
    shapes[engine.graph->value(engine.graph->inputs[i]).name] = tuned[i];
  const graph::Graph bound = graph::with_input_shapes(*engine.graph, shapes);
  Description result;
  result.note = fmt::format(
      "this engine is for another machine ({}), so no kernels were made and what follows is the record of "
      "its "
      "build",
      engine.fingerprint());
  const std::vector<std::vector<int32_t>> predecessors = graph::node_predecessors(bound);
  // For each node, the steps that computed its outputs: its own steps, or those that computed the value of
  // which an output is a view.
  std::vector<std::vector<int32_t>> makers(bound.nodes.size());
  for (size_t i = 0; i < bound.nodes.size(); ++i) {
    const graph::Node& node = bound.nodes[i];
    std::set<int32_t> read;
    for (const int32_t from : predecessors[i]) {
      const std::vector<int32_t>& made = makers[static_cast<size_t>(from)];
      read.insert(made.begin(), made.end());
    }
    if (graph::traits_of(node).view) {
      makers[i].assign(read.begin(), read.end());
      continue;
    }
    makers[i] = {static_cast<int32_t>(result.steps.size())};
    StepDescription step{.name = node.name, .kind = graph::kind_of(node), .sources = node.sources};
    const auto plan = engine.plans.find({static_cast<int32_t>(i), {}});
    if (plan != engine.plans.end()) step.tactic = plan->second.tactic.text();
    step.policy = policy_name(plan == engine.plans.end() ? engine.policy() : plan->second.policy);
    step.inputs = type_texts(bound, node.inputs);
    step.outputs = type_texts(bound, node.outputs);
    step.predecessors.assign(read.begin(), read.end());
    describe_node(engine, bound, node, step);
    result.flops += step.flops;
    result.steps.push_back(std::move(step));
  }
  return result;
}

Json description_json(const Engine& engine, const Description& description) {
  Json steps = Json::array();
  for (const StepDescription& step : description.steps) steps.push_back(step_json(step));
  Json passes = Json::array();
  for (const auto& pass : engine.passes) {
    passes.push_back({{"name", pass.name},
                      {"milliseconds", pass.milliseconds ? Json(*pass.milliseconds) : Json(nullptr)},
                      {"changes", pass.changes},
                      {"notes", pass.notes},
                      {"refusals", pass.refusals}});
  }
  Json policies = Json::array();
  for (const NumericPolicy& policy : engine.policies) policies.push_back(policy_name(policy));
  Json shapes = Json::object();
  for (const auto& [name, profile] : engine.shapes)
    shapes[name] = {{"min", profile.min}, {"opt", profile.opt}, {"max", profile.max}};
  return {{"model", engine.model},
          {"hone_version", engine.hone_version},
          {"fingerprint", engine.fingerprint()},
          {"precision", tensor::precision_name(engine.precision())},
          {"policies", std::move(policies)},
          {"threads", engine.threads},
          {"layout", layout_name(engine.layout)},
          {"micro_batch", engine.micro_batch},
          {"shapes", shapes},
          {"flops", description.flops},
          {"memory", memory_json(description)},
          {"not_timed", engine.not_timed.empty() ? Json(nullptr) : Json(engine.not_timed)},
          {"cut_short", engine.cut_short.empty() ? Json(nullptr) : Json(engine.cut_short)},
          {"note", description.note.empty() ? Json(nullptr) : Json(description.note)},
          {"passes", passes},
          {"steps", steps}};
}

}  // namespace hone::engine
