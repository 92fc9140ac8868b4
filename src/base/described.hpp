// Structs with descriptions of their fields. One table of fields for each struct defines its JSON form
// (written here, read in read_described.hpp), its TypeScript type (typescript.hpp), and the explanation of
// every number: definition, unit, origin. Therefore these cannot contradict each other.
#pragma once

#include <array>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/json.hpp"

namespace hone::base {

namespace unit {
inline constexpr std::string_view kNs = "ns";
inline constexpr std::string_view kMs = "ms";
inline constexpr std::string_view kSeconds = "s";
inline constexpr std::string_view kBytes = "bytes";
inline constexpr std::string_view kMegabytes = "MB";  ///< 1e6 bytes
inline constexpr std::string_view kFlop = "flop";
inline constexpr std::string_view kFlopRate = "flop/s";
inline constexpr std::string_view kByteRate = "bytes/s";
inline constexpr std::string_view kShare = "share";  ///< 0 to 1
inline constexpr std::string_view kPerSecond = "1/s";
inline constexpr std::string_view kRatio = "ratio";
inline constexpr std::string_view kCount = "count";
}  // namespace unit

/// The origin of a number.
namespace origin {
inline constexpr std::string_view kMeasured = "measured";  ///< by a clock or a counter
inline constexpr std::string_view kEstimated =
    "estimated";  ///< computed from measurements, with a model or as a bound
inline constexpr std::string_view kNamed = "by name";  ///< derived from the name of a kernel or an operator
inline constexpr std::string_view kRecorded = "recorded";  ///< as stated in a trace or by a program
}  // namespace origin

/// `get` is a pointer to a member, or a function of the owner.
template <class Get>
struct Field {
  std::string_view name;
  Get get;
  std::string_view text;  ///< definition, for people
  std::string_view unit = {};
  std::string_view origin = {};
  bool later = false;  ///< may be absent in older files; the member then keeps its default
  double least = -std::numeric_limits<double>::infinity();
};
template <class Get>
Field(std::string_view, Get, std::string_view) -> Field<Get>;
template <class Get>
Field(std::string_view, Get, std::string_view, std::string_view) -> Field<Get>;
template <class Get>
Field(std::string_view, Get, std::string_view, std::string_view, std::string_view) -> Field<Get>;

/// Marks a field that older files lack.
template <class Get>
constexpr Field<Get> later(Field<Get> field) {
  field.later = true;
  return field;
}

/// Marks a field whose numbers have a least value.
template <class Get>
constexpr Field<Get> at_least(double least, Field<Get> field) {
  field.least = least;
  return field;
}

/// Specializations have `kName`, the type's name in TypeScript, and `kFields`, a tuple of fields.
template <class T>
struct Description;

template <class T>
concept Described = requires {
  Description<T>::kName;
};

/// An object whose keys are data.
template <class T>
using Named = std::vector<std::pair<std::string, T>>;

/// The JSON of a T that was read from a file or made earlier.
template <class T>
struct JsonOf {
  using Type = T;
  Json json;
};

template <class T>
Json described_json(const T& value);

namespace described_detail {

template <class T>
struct IsOptional : std::false_type {};
template <class T>
struct IsOptional<std::optional<T>> : std::true_type {};

template <class T>
struct IsNamed : std::false_type {};
template <class T>
struct IsNamed<Named<T>> : std::true_type {};

template <class T>
struct IsList : std::false_type {};
template <class T>
struct IsList<std::vector<T>> : std::negation<IsNamed<std::vector<T>>> {};
template <class T, size_t N>
struct IsList<std::array<T, N>> : std::true_type {};

template <class T>
struct IsJsonOf : std::false_type {};
template <class T>
struct IsJsonOf<JsonOf<T>> : std::true_type {};

template <class T>
Json object_json(const T& owner) {
  Json json = Json::object();
  std::apply(
      [&](const auto&... field) {
        ((json[std::string(field.name)] = described_json(std::invoke(field.get, owner))), ...);
      },
      Description<T>::kFields);
  return json;
}

}  // namespace described_detail

/// No member is null here; numbers that are not finite become null when the JSON is written.
template <class T>
Json described_json(const T& value) {
  using namespace described_detail;
  if constexpr (Described<T>) {
    return object_json(value);
  } else if constexpr (IsJsonOf<T>::value) {
    return value.json;
  } else if constexpr (IsOptional<T>::value) {
    return value ? described_json(*value) : Json(nullptr);
  } else if constexpr (IsNamed<T>::value) {
    Json json = Json::object();
    for (const auto& [name, item] : value) json[name] = described_json(item);
    return json;
  } else if constexpr (IsList<T>::value) {
    Json json = Json::array();
    for (const auto& item : value) json.push_back(described_json(item));
    return json;
  } else {
    return value;
  }
}

/// Writes only the fields whose names are wanted; other fields are not evaluated.
template <Described T, class Wanted>
Json described_json_of(const T& owner, const Wanted& wanted) {
  Json json = Json::object();
  std::apply(
      [&](const auto&... field) {
        ((wanted(field.name)
              ? void(json[std::string(field.name)] = described_json(std::invoke(field.get, owner)))
              : void()),
         ...);
      },
      Description<T>::kFields);
  return json;
}

/// Accesses a field of a member through its owner.
template <class Part, class Owner, class Get>
struct OfPart {
  Part Owner::*part;
  Get get;

  constexpr decltype(auto) operator()(const Owner& owner) const { return std::invoke(get, owner.*part); }
};

/// The fields of a member as fields of its owner.
template <Described Part, class Owner>
constexpr auto extended(Part Owner::*part) {
  return std::apply(
      [part](const auto&... field) {
        return std::tuple{Field<OfPart<Part, Owner, decltype(field.get)>>{field.name,
                                                                          {part, field.get},
                                                                          field.text,
                                                                          field.unit,
                                                                          field.origin,
                                                                          field.later,
                                                                          field.least}...};
      },
      Description<Part>::kFields);
}

}  // namespace hone::base
