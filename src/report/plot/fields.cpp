// See fields.hpp.
#include "report/plot/fields.hpp"

#include <utility>

#include "base/error.hpp"

namespace hone::report {
namespace {

const Json kNull;

}  // namespace

Fields::Fields(const Json& json, std::string path, std::vector<std::string>* doubts)
    : json_(&json), path_(std::move(path)), doubts_(doubts) {
  if (!json.is_object() && !json.is_null())
    fail_bad_input("{} is no object", path_.empty() ? "the file" : "the field " + path_);
}

std::string Fields::place(const char* name) const { return path_.empty() ? name : path_ + "." + name; }

const Json& Fields::find(const char* name) const {
  if (!json_->is_object()) return kNull;
  const auto found = json_->find(name);
  return found == json_->end() ? kNull : *found;
}

void Fields::fail(const char* name, const char* wanted) const {
  fail_bad_input("the field {} is {}", place(name), wanted);
}

void Fields::doubt(const char* name, const std::string& found) const {
  doubts_->push_back(place(name) + " " + found);
}

std::optional<std::string> Fields::text(const char* name) const {
  const Json& json = find(name);
  if (json.is_null()) return std::nullopt;
  if (!json.is_string()) fail(name, "no text");
  return json.get<std::string>();
}

std::optional<bool> Fields::flag(const char* name) const {
  const Json& json = find(name);
  if (json.is_null()) return std::nullopt;
  if (!json.is_boolean()) fail(name, "neither true nor false");
  return json.get<bool>();
}

std::optional<int64_t> Fields::integer(const char* name) const {
  const Json& json = find(name);
  if (json.is_null()) return std::nullopt;
  if (!json.is_number_integer()) fail(name, "no integer");
  if (json.is_number_unsigned() && !std::in_range<int64_t>(json.get<uint64_t>())) fail(name, "too large");
  return json.get<int64_t>();
}

std::optional<double> Fields::number(const char* name) const {
  const Json& json = find(name);
  if (json.is_null()) return std::nullopt;
  if (!json.is_number()) fail(name, "no number");
  return json.get<double>();
}

/// What is this large is no time, rate or size, and would overflow on the way to a picture.
constexpr double kLargest = 1e18;

std::optional<double> Fields::not_negative(const char* name) const {
  const std::optional<double> value = number(name);
  if (!value || (*value >= 0 && *value <= kLargest)) return value;
  doubt(name, fmt::format("{}", *value));
  return std::nullopt;
}

std::optional<double> Fields::positive(const char* name) const {
  const std::optional<double> value = not_negative(name);
  if (!value || *value >= 1 / kLargest) return value;
  doubt(name, fmt::format("{}", *value));
  return std::nullopt;
}

Fields Fields::object(const char* name) const { return {find(name), place(name), doubts_}; }

const Json& Fields::list(const char* name) const {
  const Json& json = find(name);
  if (!json.is_null() && !json.is_array()) fail(name, "no list");
  return json;
}

std::string Fields::require_text(const char* name) const {
  std::optional<std::string> value = text(name);
  if (!value) fail(name, "missing");
  return *std::move(value);
}

int64_t Fields::require_integer(const char* name) const {
  const std::optional<int64_t> value = integer(name);
  if (!value) fail(name, "missing");
  return *value;
}

}  // namespace hone::report
