// Generates TypeScript for described structs (described.hpp): one interface for each, and the meaning of
// their fields.
#pragma once

#include <fmt/format.h>

#include <set>

#include "base/described.hpp"

namespace hone::base {

/// Collects the types that a root type needs, each after its own dependencies.
class TypeScript {
 public:
  template <Described T>
  void add();

  /// Interfaces, and `fields`: definition, unit and origin of every field by type and name.
  std::string text() const;

 private:
  template <class T>
  std::string type_of();
  void declare(std::string_view name, const std::string& members, const std::string& meanings);

  std::set<std::string, std::less<>> known_;
  std::string interfaces_;
  std::string meanings_;
};

/// The text in double quotes.
std::string quoted(std::string_view text);

template <class T>
std::string TypeScript::type_of() {
  using namespace described_detail;
  if constexpr (Described<T>) {
    add<T>();
    return std::string(Description<T>::kName);
  } else if constexpr (IsJsonOf<T>::value) {
    return type_of<typename T::Type>();
  } else if constexpr (IsOptional<T>::value) {
    const std::string item = type_of<typename T::value_type>();
    return item.ends_with("null") ? item : item + " | null";
  } else if constexpr (IsNamed<T>::value) {
    return "Record<string, " + type_of<typename T::value_type::second_type>() + ">";
  } else if constexpr (IsList<T>::value) {
    const std::string item = type_of<typename T::value_type>();
    return (item.find(' ') == std::string::npos ? item : "(" + item + ")") + "[]";
  } else if constexpr (std::is_same_v<T, Json>) {
    return "Json";
  } else if constexpr (std::is_same_v<T, bool>) {
    return "boolean";
  } else if constexpr (std::is_integral_v<T>) {
    return "number";
  } else if constexpr (std::is_floating_point_v<T>) {
    return "number | null";
  } else {
    static_assert(std::is_convertible_v<T, std::string_view>, "has no form in JSON");
    return "string";
  }
}

template <Described T>
void TypeScript::add() {
  const std::string_view name = Description<T>::kName;
  if (!known_.emplace(name).second) return;
  std::string members;
  std::string meanings;
  std::apply(
      [&](const auto&... field) {
        ((members +=
          fmt::format("  {}: {};\n", field.name,
                      type_of<std::remove_cvref_t<std::invoke_result_t<decltype(field.get), const T&>>>()),
          meanings += fmt::format("    {}: {{ text: {}, unit: {}, origin: {} }},\n", field.name,
                                  quoted(field.text), quoted(field.unit), quoted(field.origin))),
         ...);
      },
      Description<T>::kFields);
  declare(name, members, meanings);
}

}  // namespace hone::base
