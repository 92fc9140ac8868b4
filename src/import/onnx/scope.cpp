// See scope.hpp.
#include "import/onnx/scope.hpp"

#include "import/onnx/types.hpp"

namespace hone::importer {

using graph::kNoValue;
using graph::ValueId;

std::optional<ValueId> Scope::find(const std::string& name) {
  const auto found = names_.find(name);
  if (found != names_.end()) return found->second;
  if (outer == nullptr) return std::nullopt;
  const auto outer_id = outer->find(name);
  if (!outer_id || *outer_id == kNoValue) return outer_id;
  const ValueId id = capture(*outer_id);
  names_[name] = id;
  return id;
}

ValueId Scope::capture(ValueId outer_id) {
  const graph::Value& value = outer->graph.value(outer_id);
  if (value.constant) return graph.add_constant(value.name, *value.constant);
  for (const Capture& capture : captures) {
    if (capture.outer == outer_id) return capture.inner;
  }
  const ValueId id = graph.add_value(value.name, value.type);
  captures.push_back({outer_id, id});
  return id;
}

const std::vector<ValueId>* Scope::find_sequence(const std::string& name) const {
  const auto found = sequences_.find(name);
  return found == sequences_.end() ? nullptr : &found->second;
}

void Scope::define_sequence(const std::string& name, std::vector<ValueId> elements) {
  checked_name(name, "value name");
  if (names_.contains(name) || !sequences_.emplace(name, std::move(elements)).second)
    fail_bad_input("value '{}' is made twice", name);
}

ValueId Scope::lookup(const std::string& name) {
  if (name.empty()) return kNoValue;
  const auto id = find(name);
  for (const Scope* scope = this; !id && scope != nullptr; scope = scope->outer) {
    if (scope->find_sequence(name) != nullptr) {
      fail_bad_input("value '{}' is a sequence, which only operators on sequences in the same graph can read",
                     name.substr(0, 200));
    }
  }
  if (!id) fail_bad_input("value '{}' is read, but nothing makes it", name.substr(0, 200));
  return *id;
}

void Scope::define(const std::string& name, ValueId id) {
  checked_name(name, "value name");
  if (sequences_.contains(name) || !names_.emplace(name, id).second)
    fail_bad_input("value '{}' is made twice", name);
}

std::string Scope::full_name(const std::string& name) const {
  const auto lent = lent_.find(name);
  return lent == lent_.end() ? frame.prefix + name : lent->second;
}

void Scope::lend_name(const std::string& name, const Scope& caller, const std::string& outer_name) {
  lent_[name] = caller.full_name(outer_name);
  const auto declared = caller.declared_.find(outer_name);
  if (declared != caller.declared_.end()) declare(name, declared->second);
}

ValueId Scope::make(const std::string& name) {
  if (name.empty()) return kNoValue;
  const auto declared = declared_.find(name);
  const ValueId id =
      graph.add_value(full_name(name), declared == declared_.end() ? graph::TensorType{} : declared->second);
  define(name, id);
  return id;
}

}  // namespace hone::importer
