// See kineto_header.hpp.
#include "trace/format/kineto_header.hpp"

#include <simdjson.h>

#include <limits>
#include <string>
#include <utility>

#include "trace/format/name_table.hpp"

namespace hone::trace {
namespace {

namespace json = simdjson::dom;

/// Limits of metadata: useful notes about a trace are shorter.
constexpr size_t kLongestValue = size_t{1} << 20;
constexpr size_t kMostMembers = 4096;

using DeviceField = std::pair<int32_t DeviceProperties::*, int64_t DeviceProperties::*>;

constexpr NameTable kDeviceFields{std::to_array<NamedValue<DeviceField>>({
    {"id", {&DeviceProperties::id, nullptr}},
    {"totalglobalmem", {nullptr, &DeviceProperties::memory_bytes}},
    {"computemajor", {&DeviceProperties::compute_major, nullptr}},
    {"computeminor", {&DeviceProperties::compute_minor, nullptr}},
    {"numsms", {&DeviceProperties::multiprocessors, nullptr}},
    {"warpsize", {&DeviceProperties::warp_size, nullptr}},
    {"maxthreadspermultiprocessor", {&DeviceProperties::threads_per_multiprocessor, nullptr}},
    {"regspermultiprocessor", {&DeviceProperties::registers_per_multiprocessor, nullptr}},
    {"sharedmempermultiprocessor", {nullptr, &DeviceProperties::shared_bytes_per_multiprocessor}},
})};

/// No property of a device is negative.
void read_device_field(DeviceProperties& device, const DeviceField& field, const json::element& value) {
  uint64_t number = 0;
  if (value.get_uint64().get(number) != simdjson::SUCCESS) return;
  if (field.first != nullptr && std::in_range<int32_t>(number))
    device.*field.first = static_cast<int32_t>(number);
  if (field.second != nullptr && std::in_range<int64_t>(number))
    device.*field.second = static_cast<int64_t>(number);
}

std::string text_member(const json::object& object, std::string_view key) {
  std::string_view text;
  return object[key].get_string().get(text) == simdjson::SUCCESS ? std::string(text) : std::string();
}

int64_t integer_member(const json::object& object, std::string_view key) {
  int64_t number = 0;
  return object[key].get_int64().get(number) == simdjson::SUCCESS ? number : 0;
}

/// Passes the objects of an array to `use`; returns false if the text is no array.
template <class Use>
bool for_each_object(std::string_view text, Use&& use) {
  json::parser parser;
  json::array array;
  if (parser.parse(text.data(), text.size()).get_array().get(array) != simdjson::SUCCESS) return false;
  for (const json::element element : array) {
    json::object object;
    if (element.get_object().get(object) == simdjson::SUCCESS) use(object);
  }
  return true;
}

std::string plain_text(std::string_view text) {
  json::parser parser;
  std::string_view content;
  if (text.starts_with('"') &&
      parser.parse(text.data(), text.size()).get_string().get(content) == simdjson::SUCCESS)
    return std::string(content);
  return std::string(text);
}

}  // namespace

void KinetoHeader::add(std::string_view key, std::string_view text) {
  if (text.size() > kLongestValue || found_.metadata.size() >= kMostMembers ||
      !simdjson::validate_utf8(text) || !simdjson::validate_utf8(key)) {
    ++refused_;
  } else if (key == "deviceProperties") {
    refused_ += add_devices(text) ? 0 : 1;
  } else if (key == kDoubtsMember) {
    refused_ += add_doubts(text) ? 0 : 1;
  } else if (key == kUnitsMember) {
    refused_ += add_counter_units(text) ? 0 : 1;
  } else {
    found_.metadata[key == "baseTimeNanoseconds" ? "utc_epoch_ns" : std::string(key)] = plain_text(text);
  }
}

bool KinetoHeader::add_devices(std::string_view text) {
  return for_each_object(text, [this](const json::object& object) {
    DeviceProperties device;
    for (const auto& [key, value] : object) {
      if (const DeviceField* field = kDeviceFields.find(key)) read_device_field(device, *field, value);
    }
    device.name = found_.strings.intern(text_member(object, "name"));
    if (found_.find_device(device.id) == nullptr) found_.devices.push_back(device);
  });
}

bool KinetoHeader::add_doubts(std::string_view text) {
  return for_each_object(text, [this](const json::object& object) {
    const int64_t severity = integer_member(object, "severity");
    if (severity < 0 || severity > static_cast<int64_t>(Severity::kLoss)) return;
    found_.doubt(static_cast<Severity>(severity), text_member(object, "about"), text_member(object, "text"),
                 integer_member(object, "count"));
  });
}

bool KinetoHeader::add_counter_units(std::string_view text) {
  return for_each_object(text, [this](const json::object& object) {
    found_.counter_units[found_.strings.intern(text_member(object, "counter"))] = text_member(object, "unit");
  });
}

void KinetoHeader::apply(Trace& trace) {
  for (DeviceProperties& device : found_.devices) {
    device.name = trace.strings.intern(found_.text(device.name));
    trace.devices.push_back(device);
  }
  trace.metadata.merge(found_.metadata);
  for (const auto& [counter, unit] : found_.counter_units)
    trace.counter_units[trace.strings.intern(found_.text(counter))] = unit;
  for (const Doubt& doubt : found_.doubts) trace.doubt(doubt.severity, doubt.about, doubt.text, doubt.count);
  if (refused_ != 0)
    trace.doubt(Severity::kDoubt, "metadata", "values could not be read and were left out",
                static_cast<int64_t>(refused_));
}

}  // namespace hone::trace
