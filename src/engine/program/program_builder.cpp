// Compiles a graph with concrete shapes: asks the device for each node, brings operands into the wanted
// arrangement, shares and plans memory.
#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "base/out_of_memory.hpp"
#include "engine/program/program.hpp"
#include "engine/program/slots.hpp"
#include "graph/operator.hpp"

namespace hone::engine {

using graph::kNoValue;
using graph::Node;
using graph::ValueId;
using tensor::Tensor;

namespace {

/// Of each step's counters, bytes.
constexpr int64_t kCounterAlignment = 256;

TensorDesc plain_desc(const graph::TensorType& type) {
  Shape shape;
  for (const graph::Dim& dim : *type.dims) shape.push_back(dim.value());
  return {type.dtype, std::move(shape), Layout::kPlain};
}

}  // namespace

class ProgramBuilder {
 public:
  ProgramBuilder(std::shared_ptr<const graph::Graph> graph, const Device& device, WeightStore& weights,
                 const ProgramOptions& options)
      : graph_(std::move(graph)), device_(device), weights_(weights), options_(options) {
    slot_of_.assign(graph_->values.size(), -1);
  }

  std::unique_ptr<Program> build() {
    program_->graph_ = graph_;
    for (size_t i = 0; i < graph_->inputs.size(); ++i) add_input(i);
    for (size_t i = 0; i < graph_->nodes.size(); ++i) {
      try {
        add_node(static_cast<int32_t>(i));
      } catch (const Error& error) {
        if (error.where().empty() && error.kind() == ErrorKind::kBadInput)
          rethrow_within(error, graph_->nodes[i].text());
        throw;
      }
    }
    for (size_t i = 0; i < graph_->outputs.size(); ++i) add_output(i);
    finish();
    return std::move(program_);
  }

 private:
  bool is_static(ValueId id) const { return id == kNoValue || graph_->value(id).type.fully_known(); }

  void add_input(size_t index) {
    const ValueId id = graph_->inputs[index];
    if (!is_static(id)) {
      fail_usage("input '{}' has no concrete shape ({})", graph_->value(id).name,
                 graph_->value(id).type.text());
    }
    slot_of_[static_cast<size_t>(id)] = slots_.add({.desc = plain_desc(graph_->value(id).type),
                                                    .storage = Operand::Storage::kInput,
                                                    .index = static_cast<int64_t>(index)});
  }

  /// The slot a value has now; constants get theirs when first asked for.
  int32_t slot(ValueId id) {
    int32_t& known = slot_of_[static_cast<size_t>(id)];
    if (known < 0) {
      const Tensor* constant = graph_->constant(id);
      if (constant == nullptr && graph_->value(id).constant) {
        // Only a packed form is stored; tactics that take it do not read these bytes.
        const Tensor& type = *graph_->value(id).constant;
        return known = slots_.add({.desc = {type.dtype(), type.shape(), Layout::kPlain},
                                   .storage = Operand::Storage::kConstant});
      }
      if (constant == nullptr) fail_internal("value '{}' is read before it is made", graph_->value(id).name);
      known = slots_.add({.desc = {constant->dtype(), constant->shape(), Layout::kPlain},
                          .storage = Operand::Storage::kConstant,
                          .data = constant->bytes()});
    }
    return known;
  }

  void need_plain_constant(ValueId id) {
    // A view of a constant: its source was noted when the view was made.
    if (!graph_->value(id).constant) return;
    if (graph_->constant(id) == nullptr) {
      fail_bad_input("the engine holds constant '{}' in packed form only, and a step needs it plain",
                     graph_->value(id).name);
    }
    plain_constants_.insert(id);
  }

  /// A slot that holds the same value arranged as `wanted`, after a reorder step if need be.
  int32_t arrange(int32_t from, const TensorDesc& wanted, const std::string& name) {
    if (slots_.at(from).storage == Operand::Storage::kDynamic)
      fail_internal("'{}' has no shape to arrange", name);
    const TensorDesc have = slots_.at(from).desc;
    if (same_arrangement(have, wanted)) return from;
    const auto [first, last] = arranged_.equal_range(from);
    for (auto known = first; known != last; ++known) {
      if (slots_.at(known->second).desc == wanted) return known->second;
    }
    if (slots_.at(from).storage == Operand::Storage::kConstant) {
      const int32_t result = slots_.add({.desc = wanted, .storage = Operand::Storage::kConstant});
      Tensor bytes(DType::kUInt8, {wanted.bytes()});
      device_.arrange_constant(have, wanted, slots_.at(from).data, bytes.mutable_bytes());
      slots_.at(result).data = bytes.bytes();
      program_->owned_.push_back(std::move(bytes));
      arranged_.emplace(from, result);
      return result;
    }
    const int32_t result = slots_.add({.desc = wanted});
    DraftStep draft = make_copy(from, result, "Reorder", name);
    steps_.push_back(std::move(draft));
    arranged_.emplace(from, result);
    return result;
  }

  DraftStep make_copy(int32_t from, int32_t to, const char* kind, const std::string& name) const {
    DraftStep draft;
    draft.step.name = fmt::format("{} of {}", kind, name);
    draft.step.kind = kind;
    draft.step.tactic = "reorder";
    draft.step.kernel = device_.make_reorder(slots_.at(from).desc, slots_.at(to).desc);
    draft.inputs = {from};
    draft.outputs = {to};
    return draft;
  }

  void add_node(int32_t index) {
    const Node& node = graph_->nodes[static_cast<size_t>(index)];
    const bool all_static =
        std::all_of(node.inputs.begin(), node.inputs.end(), [&](ValueId id) { return is_static(id); }) &&
        std::all_of(node.outputs.begin(), node.outputs.end(), [&](ValueId id) { return is_static(id); });
    if (!all_static) {
      add_dynamic_step(index);
      return;
    }
    if (graph::traits_of(node).view) {
      add_view(node);
      return;
    }
    add_static_step(index);
  }

  void add_view(const Node& node) {
    const ValueId source = node.inputs[0];
    if (graph_->value(source).constant) need_plain_constant(source);
    const int32_t current = slot(source);
    TensorDesc plain = slots_.at(current).desc;
    plain.layout = Layout::kPlain;
    const int32_t from = arrange(current, plain, graph_->value(source).name);
    Slot view = slots_.at(from);
    view.desc = {plain.dtype, plain_desc(graph_->value(node.outputs[0]).type).shape, Layout::kPlain};
    if (view.storage == Operand::Storage::kArena) {
      view.parent = from;
      view.offset = 0;
    }
    slot_of_[static_cast<size_t>(node.outputs[0])] = slots_.add(std::move(view));
  }

  void add_static_step(int32_t index) {
    const Node& node = graph_->nodes[static_cast<size_t>(index)];
    StepRequest request{.graph = *graph_, .node = node, .layout = options_.layout};
    request.precision = options_.precision;
    request.exhaustive = options_.exhaustive;
    if (device_.computes_in(options_.precision)) {
      request.compute_dtype = tensor::storage_dtype(options_.precision);
    } else {
      request.round_bf16 = true;
    }
    for (const ValueId id : node.inputs) {
      request.inputs.push_back(id == kNoValue ? TensorDesc{} : slots_.at(slot(id)).desc);
    }
    for (const ValueId id : node.outputs) {
      request.outputs.push_back(id == kNoValue ? TensorDesc{} : plain_desc(graph_->value(id).type));
    }
    DraftStep draft;
    draft.step = {.name = node.name, .kind = node.op, .node = index, .sources = node.sources};
    const Offer offer = choose(request, index, draft.step);
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      if (node.inputs[i] == kNoValue || offer.inputs[i].dtype == DType::kUndefined) {
        draft.inputs.push_back(-1);
        continue;
      }
      const int32_t from = slot(node.inputs[i]);
      if (slots_.at(from).storage == Operand::Storage::kConstant) need_plain_constant(node.inputs[i]);
      draft.inputs.push_back(arrange(from, offer.inputs[i], graph_->value(node.inputs[i]).name));
    }
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      if (node.outputs[i] == kNoValue || offer.outputs[i].dtype == DType::kUndefined) {
        draft.outputs.push_back(-1);
        continue;
      }
      draft.outputs.push_back(slots_.add({.desc = offer.outputs[i]}));
      slot_of_[static_cast<size_t>(node.outputs[i])] = draft.outputs.back();
    }
    draft.step.kernel =
        request.round_bf16 ? device_.make_rounding(offer.kernel, offer.outputs) : offer.kernel;
    draft.step.scratch_bytes = offer.scratch_bytes;
    draft.step.counter_bytes = offer.counter_bytes;
    draft.accumulate_input = offer.accumulate_input;
    draft.in_place_input = offer.in_place_input;
    draft.concatenates = offer.concatenates;
    draft.part_alignment = offer.part_alignment;
    packed_.insert(offer.packed.begin(), offer.packed.end());
    steps_.push_back(std::move(draft));
  }

  /// Its offer, of one variant where there are several. What needs a form of a constant that the engine does
  /// not hold refuses.
  Offer ask(const Tactic& tactic, const StepRequest& request, const std::string* variant) {
    try {
      return variant == nullptr ? tactic.offer(request, weights_)
                                : tactic.offer_variant(request, weights_, *variant);
    } catch (const MissingForm& error) {
      if (!missing_) missing_ = error;
      return Offer::refuse(error.sentence());
    }
  }

  /// What the tactic offers by the variant `named` if any, else by the first of `variants` that does not
  /// refuse; those before it leave the list.
  Offer first_offer(const Tactic& tactic, const StepRequest& request, const std::string& named,
                    std::vector<std::string>& variants) {
    Offer offer;
    if (!named.empty()) {
      variants = {named};
      offer = ask(tactic, request, &named);
      if (!offer.refusal) return offer;
    }
    variants = tactic.variants(request);
    if (variants.empty()) return ask(tactic, request, nullptr);
    if (options_.list_candidates) program_->preparations_.push_back(tactic.expect(request, variants));
    std::erase(variants, named);  // it has refused
    for (; !variants.empty(); variants.erase(variants.begin())) {
      offer = ask(tactic, request, &variants.front());
      if (!offer.refusal) break;
    }
    return offer;
  }

  Offer choose(const StepRequest& request, int32_t index, ProgramStep& step) {
    const auto position = static_cast<size_t>(index);
    const std::string wanted = position < options_.tactics.size() ? options_.tactics[position] : "";
    const size_t colon = std::min(wanted.find(':'), wanted.size());
    const std::string wanted_tactic = wanted.substr(0, colon);
    std::vector<const Tactic*> tactics = device_.tactics(request.node);
    tactics.push_back(&reference_tactic());
    std::stable_partition(tactics.begin(), tactics.end(),
                          [&](const Tactic* tactic) { return tactic->name() == wanted_tactic; });
    Offer first;
    missing_.reset();
    for (const Tactic* tactic : tactics) {
      if (!step.candidates.empty() && (tactic == &reference_tactic() || !options_.list_candidates)) break;
      // It reads constants plain, so also the one that is missing.
      if (tactic == &reference_tactic() && missing_) throw MissingForm(*missing_);
      const bool named = tactic->name() == wanted_tactic && colon < wanted.size();
      std::vector<std::string> variants;
      Offer offer = first_offer(*tactic, request, named ? wanted.substr(colon + 1) : "", variants);
      if (offer.refusal) {
        step.refusals.push_back(fmt::format("{}: {}", tactic->name(), offer.refusal.text()));
        continue;
      }
      const bool chosen = step.candidates.empty();
      if (variants.empty()) step.candidates.emplace_back(tactic->name());
      for (const std::string& variant : variants)
        step.candidates.push_back(fmt::format("{}:{}", tactic->name(), variant));
      if (chosen) {
        step.tactic = step.candidates.front();
        first = std::move(offer);
      }
    }
    if (!step.candidates.empty()) return first;
    fail_internal("no tactic runs {}: {}", request.node.text(), fmt::join(step.refusals, "; "));
  }

  /// A step with a value whose shape is only known when it runs.
  void add_dynamic_step(int32_t index) {
    const Node& node = graph_->nodes[static_cast<size_t>(index)];
    DraftStep draft;
    draft.step = {
        .name = node.name, .kind = node.op, .tactic = "reference", .node = index, .sources = node.sources};
    for (const ValueId id : node.inputs) draft.inputs.push_back(id == kNoValue ? -1 : plain_slot(id));
    for (const ValueId id : node.outputs) {
      if (id == kNoValue) {
        draft.outputs.push_back(-1);
        continue;
      }
      const bool known = is_static(id);
      slot_of_[static_cast<size_t>(id)] =
          known ? slots_.add({.desc = plain_desc(graph_->value(id).type)})
                : slots_.add({.storage = Operand::Storage::kDynamic, .index = id});
      draft.outputs.push_back(slot_of_[static_cast<size_t>(id)]);
    }
    steps_.push_back(std::move(draft));
  }

  /// The value as the graph declares it: plain, in its own element type.
  int32_t plain_slot(ValueId id) {
    const int32_t current = slot(id);
    if (slots_.at(current).storage == Operand::Storage::kDynamic) return current;
    if (slots_.at(current).storage == Operand::Storage::kConstant) need_plain_constant(id);
    return arrange(current, plain_desc(graph_->value(id).type), graph_->value(id).name);
  }

  void add_output(size_t index) {
    const ValueId id = graph_->outputs[index];
    const int32_t current = slot(id);
    const bool constant = slots_.at(current).storage == Operand::Storage::kConstant;
    if (constant) need_plain_constant(id);
    Slot result{.storage = Operand::Storage::kOutput, .index = static_cast<int64_t>(index)};
    if (slots_.at(current).storage == Operand::Storage::kDynamic) {
      DraftStep draft;
      draft.step = {.name = "Copy of " + graph_->value(id).name, .kind = "Copy", .tactic = "reference"};
      draft.inputs = {current};
      draft.outputs = {slots_.add(std::move(result))};
      steps_.push_back(std::move(draft));
      return;
    }
    result.desc = plain_desc(graph_->value(id).type);
    Slot& made = slots_.at(current);
    if (made.storage == Operand::Storage::kArena && made.parent < 0 && made.desc == result.desc) {
      made.storage = Operand::Storage::kOutput;
      made.index = static_cast<int64_t>(index);
      return;
    }
    const int32_t target = slots_.add(std::move(result));
    steps_.push_back(make_copy(current, target, "Copy", graph_->value(id).name));
  }

  void finish() {
    const std::vector<PendingCopy> copies = share_slots(slots_, steps_);
    std::vector<DraftStep> ordered;
    size_t next_copy = 0;
    for (size_t i = 0; i < steps_.size(); ++i) {
      for (; next_copy < copies.size() && copies[next_copy].step == static_cast<int32_t>(i); ++next_copy) {
        ordered.push_back(
            make_copy(copies[next_copy].from, copies[next_copy].to, "Copy", steps_[i].step.name));
      }
      if (!steps_[i].elided) ordered.push_back(std::move(steps_[i]));
    }
    plan_arena(ordered);
    int64_t scratch = 0;
    for (DraftStep& draft : ordered) {
      for (const int32_t id : draft.inputs) draft.step.inputs.push_back(operand(id));
      for (const int32_t id : draft.outputs) draft.step.outputs.push_back(operand(id));
      scratch = std::max(scratch, draft.step.scratch_bytes);
      draft.step.counters_at = program_->counter_bytes_;
      program_->counter_bytes_ +=
          (draft.step.counter_bytes + kCounterAlignment - 1) / kCounterAlignment * kCounterAlignment;
      program_->steps_.push_back(std::move(draft.step));
    }
    program_->scratch_bytes_ = scratch;
    program_->packed_.assign(packed_.begin(), packed_.end());
    program_->plain_constants_.assign(plain_constants_.begin(), plain_constants_.end());
  }

  /// Buffers are the roots that lie in the arena; each lives as long as anything inside it.
  void plan_arena(const std::vector<DraftStep>& ordered) {
    slots_.find_lives(ordered);
    std::vector<BufferLife> buffers;
    for (int32_t id = 0; id < slots_.size(); ++id) {
      const Slot& slot = slots_.at(id);
      if (slot.storage != Operand::Storage::kArena || slot.parent >= 0 || slot.last < 0) continue;
      buffer_of_[id] = buffers.size();
      buffers.push_back({slot.desc.bytes(), slot.first, slot.last});
    }
    program_->memory_ = plan_memory(buffers);
  }

  Operand operand(int32_t id) const {
    if (id < 0) return {};
    const Slot& slot = slots_.at(id);
    Operand result{.storage = slot.storage, .position = slot.index, .data = slot.data, .desc = slot.desc};
    const auto [root, offset] = slots_.root(id);
    if (slots_.at(root).storage == Operand::Storage::kOutput) {
      result.storage = Operand::Storage::kOutput;
      result.position = slots_.at(root).index;
    } else if (slot.storage == Operand::Storage::kArena) {
      result.position = program_->memory_.offsets[buffer_of_.at(root)] + offset;
    }
    return result;
  }

  std::shared_ptr<const graph::Graph> graph_;
  const Device& device_;
  WeightStore& weights_;
  const ProgramOptions& options_;
  std::unique_ptr<Program> program_ = std::make_unique<Program>();
  SlotTable slots_;
  std::vector<int32_t> slot_of_;
  /// (slot, the same value in another arrangement).
  std::multimap<int32_t, int32_t> arranged_;
  std::vector<DraftStep> steps_;
  std::set<WeightKey> packed_;
  std::set<ValueId> plain_constants_;
  /// Why the first tactic without a form of a constant refused the step in hand.
  std::optional<MissingForm> missing_;
  std::map<int32_t, size_t> buffer_of_;
};

std::unique_ptr<Program> build_program(std::shared_ptr<const graph::Graph> graph, const Device& device,
                                       WeightStore& weights, const ProgramOptions& options) {
  return ProgramBuilder(std::move(graph), device, weights, options).build();
}

}  // namespace hone::engine
