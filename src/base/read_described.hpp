// Reads described structs (described.hpp) from untrusted JSON. A field that is missing, has another type or
// is out of range is bad input with one sentence that contains its path: "the field runs[3].latency_ms.p50 is
// no number". Fields that a struct computes and unknown fields are ignored.
#pragma once

#include <cmath>

#include "base/described.hpp"
#include "base/error.hpp"

namespace hone::base {

/// `path` names the object in messages; empty for the whole document.
template <Described T>
T read_described(const Json& json, const std::string& path = {});

namespace described_detail {

[[noreturn]] void fail_field(const std::string& path, std::string_view problem);
/// The member of an object, or null.
const Json* find_member(const Json& json, std::string_view name);
std::string member_path(const std::string& path, std::string_view name);

/// The member for a field; none for a computed one.
template <class Owner, class Get>
std::nullptr_t place_of(Owner& /*owner*/, const Get& /*computed*/) {
  return nullptr;
}
template <class Owner, class Member>
Member* place_of(Owner& owner, Member Owner::*member) {
  return &(owner.*member);
}
template <class Part, class Owner, class Get>
auto place_of(Owner& owner, const OfPart<Part, Owner, Get>& field) {
  return place_of(owner.*field.part, field.get);
}

template <class T>
T read_integer(const Json& json, const std::string& path) {
  if (!json.is_number_integer()) fail_field(path, "is no integer");
  try {
    return json.get<T>();
  } catch (const Json::exception&) {
    fail_field(path, "is out of range");
  }
}

template <class T>
T read_value(const Json& json, const std::string& path) {
  if constexpr (Described<T>) {
    return read_described<T>(json, path);
  } else if constexpr (std::is_same_v<T, Json>) {
    return json;
  } else if constexpr (IsOptional<T>::value) {
    return json.is_null() ? T() : T(read_value<typename T::value_type>(json, path));
  } else if constexpr (IsNamed<T>::value) {
    if (!json.is_object()) fail_field(path, "is no object");
    T values;
    for (const auto& [name, item] : json.items())
      values.emplace_back(name,
                          read_value<typename T::value_type::second_type>(item, member_path(path, name)));
    return values;
  } else if constexpr (IsList<T>::value) {
    if (!json.is_array()) fail_field(path, "is no list");
    T values{};
    constexpr bool kGrows = requires { values.reserve(1); };
    if constexpr (kGrows) values.resize(json.size());
    if (json.size() != values.size()) fail_field(path, fmt::format("is no list of {}", values.size()));
    using Item = typename T::value_type;
    for (size_t i = 0; i < values.size(); ++i) {
      // There may be millions of samples, so their paths are built only for errors.
      const bool plain = std::is_floating_point_v<Item> && json[i].is_number();
      values[i] = read_value<Item>(json[i], plain ? std::string() : fmt::format("{}[{}]", path, i));
    }
    return values;
  } else if constexpr (std::is_same_v<T, bool>) {
    if (!json.is_boolean()) fail_field(path, "is neither true nor false");
    return json.get<bool>();
  } else if constexpr (std::is_integral_v<T>) {
    return read_integer<T>(json, path);
  } else if constexpr (std::is_floating_point_v<T>) {
    if (!json.is_number()) fail_field(path, "is no number");
    return json.get<T>();
  } else {
    static_assert(std::is_same_v<T, std::string>, "cannot be read from JSON");
    if (!json.is_string()) fail_field(path, "is no text");
    return json.get<std::string>();
  }
}

/// Checks a number, each number of a list, and an optional number if it is present.
template <class T>
void check_least(const T& value, double least, const std::string& path) {
  if constexpr (IsOptional<T>::value) {
    if (value) check_least(*value, least, path);
  } else if constexpr (std::is_arithmetic_v<T>) {
    if (!(static_cast<double>(value) >= least))
      fail_field(path, fmt::format("is {}, below {}", value, least));
  }
}

template <class Owner, class Get>
void read_field(const Json& json, const std::string& path, const Field<Get>& field, Owner& owner) {
  const auto place = place_of(owner, field.get);
  if constexpr (!std::is_null_pointer_v<std::remove_const_t<decltype(place)>>) {
    using T = std::remove_pointer_t<std::remove_const_t<decltype(place)>>;
    const Json* const found = find_member(json, field.name);
    if (found == nullptr && (field.later || IsOptional<T>::value)) return;
    const std::string name = member_path(path, field.name);
    if (found == nullptr) fail_field(name, "is missing");
    *place = read_value<T>(*found, name);
    check_least(*place, field.least, name);
  }
}

}  // namespace described_detail

template <Described T>
T read_described(const Json& json, const std::string& path) {
  if (!json.is_object()) described_detail::fail_field(path, "is no object");
  T owner;
  std::apply([&](const auto&... field) { (described_detail::read_field(json, path, field, owner), ...); },
             Description<T>::kFields);
  return owner;
}

}  // namespace hone::base
