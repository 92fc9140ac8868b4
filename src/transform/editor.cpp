// See editor.hpp.
#include "transform/editor.hpp"

#include <algorithm>
#include <utility>

#include "graph/operator.hpp"

namespace hone::transform {

Editor::Editor(Graph& graph)
    : graph_(graph), alive_(graph.nodes.size(), true), original_count_(graph.nodes.size()) {
  grow();
  for (const ValueId id : graph.outputs) output_[static_cast<size_t>(id)] = true;
  for (int32_t i = 0; i < count(); ++i) link(i);
}

void Editor::grow() {
  producer_.resize(graph_.values.size(), -1);
  readers_.resize(graph_.values.size());
  output_.resize(graph_.values.size(), false);
}

void Editor::link(int32_t index) {
  grow();
  links_.resize(graph_.nodes.size(), 0);
  for (const ValueId id : node(index).outputs) {
    if (id != kNoValue) producer_[static_cast<size_t>(id)] = index;
  }
  for (const ValueId id : node(index).inputs) {
    if (id == kNoValue) continue;
    Readers& readers = readers_[static_cast<size_t>(id)];
    readers.reads.push_back({index, links_[static_cast<size_t>(index)]});
    ++readers.count;
  }
}

void Editor::unlink(int32_t index) {
  for (const ValueId id : node(index).outputs) {
    if (id != kNoValue && producer(id) == index) producer_[static_cast<size_t>(id)] = -1;
  }
  for (const ValueId id : node(index).inputs) {
    if (id != kNoValue) --readers_[static_cast<size_t>(id)].count;
  }
  ++links_[static_cast<size_t>(index)];
}

int32_t Editor::first_reader(ValueId id) const {
  const Readers& readers = readers_[static_cast<size_t>(id)];
  if (readers.count == 0) return -1;
  while (!current(readers.reads[readers.begin])) ++readers.begin;
  return readers.reads[readers.begin].node;
}

std::vector<int32_t> Editor::readers(ValueId id) const {
  std::vector<int32_t> found;
  for (const Read& read : readers_[static_cast<size_t>(id)].reads) {
    if (current(read)) found.push_back(read.node);
  }
  return found;
}

const Node* Editor::made_by(ValueId id, std::string_view op) const {
  const int32_t index = producer(id);
  return index >= 0 && node(index).op == op ? &node(index) : nullptr;
}

int32_t Editor::single_reader(ValueId id) const {
  return read_count(id) == 1 && !is_output(id) ? first_reader(id) : -1;
}

std::string Editor::unique_name(const std::string& stem) {
  if (names_.empty()) {
    for (const graph::Value& value : graph_.values) names_.insert(value.name);
  }
  std::string name = stem;
  // Ids only grow, so starting with the number of values finds a free name almost at once.
  for (size_t i = graph_.values.size(); !names_.insert(name).second; ++i)
    name = fmt::format("{}.{}", stem, i);
  return name;
}

ValueId Editor::add_value(const std::string& stem, graph::DType dtype) {
  const ValueId id = graph_.add_value(unique_name(stem), {dtype, {}});
  grow();
  return id;
}

ValueId Editor::add_constant(const std::string& stem, graph::Tensor tensor) {
  const ValueId id = graph_.add_constant(unique_name(stem), std::move(tensor));
  grow();
  return id;
}

void Editor::set_input(int32_t index, size_t position, ValueId to) {
  unlink(index);
  graph_.nodes[static_cast<size_t>(index)].inputs[position] = to;
  link(index);
}

void Editor::replace(int32_t index, Node node) {
  graph::complete_node(node);
  unlink(index);
  graph_.nodes[static_cast<size_t>(index)] = std::move(node);
  link(index);
}

int32_t Editor::insert_before(int32_t index, Node node) {
  if (static_cast<size_t>(index) >= original_count_) fail_internal("insertion before an inserted node");
  graph::complete_node(node);
  graph_.nodes.push_back(std::move(node));
  alive_.push_back(true);
  anchors_.push_back(index);
  link(count() - 1);
  return count() - 1;
}

void Editor::remove(int32_t index) {
  unlink(index);
  graph_.nodes[static_cast<size_t>(index)].inputs.clear();
  graph_.nodes[static_cast<size_t>(index)].outputs.clear();
  alive_[static_cast<size_t>(index)] = false;
}

void Editor::redirect(ValueId from, ValueId to) {
  Readers moved = std::exchange(readers_[static_cast<size_t>(from)], {});
  Readers& readers = readers_[static_cast<size_t>(to)];
  for (const Read& read : moved.reads) {
    if (!current(read)) continue;
    auto& inputs = graph_.nodes[static_cast<size_t>(read.node)].inputs;
    std::replace(inputs.begin(), inputs.end(), from, to);
    readers.reads.push_back(read);
  }
  readers.count += moved.count;
}

bool Editor::forward(int32_t index, ValueId from, ValueId to) {
  if (!is_output(from)) {
    remove(index);
    redirect(from, to);
    return true;
  }
  const int32_t maker = producer(to);
  if (maker < 0 || is_output(to)) return false;
  remove(index);
  // The producer of `to` then produces the graph output itself.
  auto& outputs = graph_.nodes[static_cast<size_t>(maker)].outputs;
  std::replace(outputs.begin(), outputs.end(), to, from);
  producer_[static_cast<size_t>(from)] = maker;
  producer_[static_cast<size_t>(to)] = -1;
  redirect(to, from);
  return true;
}

void Editor::commit() {
  std::vector<std::vector<size_t>> before(original_count_);
  for (size_t k = 0; k < anchors_.size(); ++k) {
    before[static_cast<size_t>(anchors_[k])].push_back(original_count_ + k);
  }
  std::vector<Node> ordered;
  ordered.reserve(graph_.nodes.size());
  const auto take = [&](size_t index) {
    if (alive_[index]) ordered.push_back(std::move(graph_.nodes[index]));
  };
  for (size_t i = 0; i < original_count_; ++i) {
    for (const size_t inserted : before[i]) take(inserted);
    take(i);
  }
  graph_.nodes = std::move(ordered);
}

}  // namespace hone::transform
