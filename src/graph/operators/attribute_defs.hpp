// Short forms for the attribute lists of operator table entries.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "graph/operator.hpp"

namespace hone::graph {

inline AttributeDef int_attribute(std::string name, int64_t fallback) {
  return {std::move(name), AttributeKind::kInt, false, Attribute(fallback)};
}
inline AttributeDef float_attribute(std::string name, float fallback) {
  return {std::move(name), AttributeKind::kFloat, false, Attribute(fallback)};
}
inline AttributeDef string_attribute(std::string name, std::string fallback) {
  return {std::move(name), AttributeKind::kString, false, Attribute(std::move(fallback))};
}
/// An attribute without a default, whose absence has a meaning.
inline AttributeDef optional_attribute(std::string name, AttributeKind kind) {
  return {std::move(name), kind, false, std::nullopt};
}
inline AttributeDef required_attribute(std::string name, AttributeKind kind) {
  return {std::move(name), kind, true, std::nullopt};
}

}  // namespace hone::graph
