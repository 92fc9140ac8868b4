// The JSON library under a short name; included only by files that read or write JSON.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace hone {

template <class T, class = void>
struct JsonSerializer : nlohmann::adl_serializer<T> {};

/// Keeps the insertion order, so that written files are easy to read.
using Json = nlohmann::basic_json<nlohmann::ordered_map, std::vector, std::string, bool, int64_t, uint64_t,
                                  double, std::allocator, JsonSerializer>;

/// Defines how integers are read. The library's own conversion casts any number, so 1e300 would be undefined
/// behaviour and 2^40 would become another number; here, both are type errors like a string.
template <class T>
struct JsonSerializer<T, std::enable_if_t<std::is_integral_v<T> && !std::is_same_v<T, bool>>> {
  static void to_json(auto& json, T value) { nlohmann::to_json(json, value); }

  static void from_json(const auto& json, T& value) {
    if (json.is_number_unsigned()) return read(json, *json.template get_ptr<const uint64_t*>(), value);
    if (json.is_number_integer()) return read(json, *json.template get_ptr<const int64_t*>(), value);
    const std::string found = json.is_number() ? json.dump() : json.type_name();
    throw Json::type_error::create(302, "type must be integer, but is " + found, &json);
  }

 private:
  static void read(const auto& json, auto number, T& value) {
    if (!std::in_range<T>(number))
      throw Json::type_error::create(302, fmt::format("integer {} is out of range", number), &json);
    value = static_cast<T>(number);
  }
};

}  // namespace hone
