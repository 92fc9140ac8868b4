// Attributes of a node: a small ordered map from names to typed values.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "tensor/tensor.hpp"

namespace hone::graph {

class Graph;

using Attribute = std::variant<int64_t, float, std::string, std::vector<int64_t>, std::vector<float>,
                               std::vector<std::string>, tensor::Tensor, std::shared_ptr<Graph>>;

/// "int", "float", "string", "ints", "floats", "strings", "tensor", "graph": the names of the alternatives of
/// Attribute.
std::string_view attribute_type_name(size_t index);

class Attributes {
 public:
  bool has(std::string_view name) const { return find(name) != nullptr; }
  const Attribute* find(std::string_view name) const;
  void set(std::string name, Attribute value);
  void erase(std::string_view name);
  /// The attributes whose names begin with `prefix`; the prefix is removed from the names.
  Attributes part(std::string_view prefix) const;

  /// The value; throws an internal error if it is absent or of another type. The importer has checked types
  /// against the operator table and filled in defaults, so a model cannot cause this error.
  template <class T>
  const T& get(std::string_view name) const {
    const Attribute* attribute = find(name);
    const T* value = attribute == nullptr ? nullptr : std::get_if<T>(attribute);
    if (value == nullptr) fail_internal("attribute '{}' is absent or has another type", name);
    return *value;
  }
  template <class T>
  T get_or(std::string_view name, T fallback) const {
    return has(name) ? get<T>(name) : std::move(fallback);
  }
  int64_t get_int(std::string_view name) const { return get<int64_t>(name); }
  float get_float(std::string_view name) const { return get<float>(name); }
  const std::string& get_string(std::string_view name) const { return get<std::string>(name); }
  const std::vector<int64_t>& get_ints(std::string_view name) const {
    return get<std::vector<int64_t>>(name);
  }

  auto begin() const { return items_.begin(); }
  auto end() const { return items_.end(); }
  size_t size() const { return items_.size(); }

 private:
  std::vector<std::pair<std::string, Attribute>> items_;
};

}  // namespace hone::graph
