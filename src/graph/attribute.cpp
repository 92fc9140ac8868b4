// See attribute.hpp.
#include "graph/attribute.hpp"

#include <algorithm>
#include <array>

namespace hone::graph {

std::string_view attribute_type_name(size_t index) {
  static constexpr std::array<std::string_view, 8> kNames = {"int",    "float",   "string", "ints",
                                                             "floats", "strings", "tensor", "graph"};
  static_assert(kNames.size() == std::variant_size_v<Attribute>);
  return kNames.at(index);
}

const Attribute* Attributes::find(std::string_view name) const {
  for (const auto& [key, value] : items_) {
    if (key == name) return &value;
  }
  return nullptr;
}

void Attributes::set(std::string name, Attribute value) {
  for (auto& [key, old] : items_) {
    if (key == name) {
      old = std::move(value);
      return;
    }
  }
  items_.emplace_back(std::move(name), std::move(value));
}

void Attributes::erase(std::string_view name) {
  std::erase_if(items_, [&](const auto& item) { return item.first == name; });
}

Attributes Attributes::part(std::string_view prefix) const {
  Attributes result;
  for (const auto& [name, value] : items_) {
    if (name.starts_with(prefix)) result.set(name.substr(prefix.size()), value);
  }
  return result;
}

}  // namespace hone::graph
