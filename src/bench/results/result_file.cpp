// See result_file.hpp.
#include "bench/results/result_file.hpp"

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/read_described.hpp"
#include "bench/results/run_schema.hpp"

namespace hone::bench {
namespace {

constexpr uint64_t kLargestFile = uint64_t{1} << 30;
/// Limits recursion when the JSON is written; no real result nests deeper.
constexpr int kDeepestJson = 64;

Json parse_shallow(const std::string& text) {
  const auto shallow = [](int depth, Json::parse_event_t, Json&) {
    if (depth > kDeepestJson) fail_bad_input("lists and objects nest more than {} deep", kDeepestJson);
    return true;
  };
  return Json::parse(text, shallow, false);
}

}  // namespace

Json read_result_file(const std::filesystem::path& path) {
  const std::string text = base::read_file(path, kLargestFile);
  try {
    Json json = parse_shallow(text);
    check_result(json);
    return json;
  } catch (const Error& error) {
    throw error.within(path.string());
  }
}

void check_result(const Json& json) {
  if (json.is_discarded()) fail_bad_input("this is no JSON file");
  if (!json.is_object() || json.value("schema", Json()) != Json(kSchema))
    fail_bad_input("the field schema is not {}", kSchema);
  const Json version = json.value("version", Json());
  if (version != kSchemaVersion)
    fail_bad_input("the file has version {}, not {}", version.dump(), kSchemaVersion);
  if (!json.value("runs", Json()).is_array()) fail_bad_input("the field runs is no list");
}

SweepRecord parse_record(const Json& json) {
  check_result(json);
  return base::read_described<SweepRecord>(json);
}

std::string input_shapes(const Json& context, const std::string& model) {
  const Json all = context.is_object() ? context.value("input_shapes", Json()) : Json();
  const Json text = all.is_object() ? all.value(model, Json()) : Json();
  return text.is_string() ? text.get<std::string>() : "";
}

void check_samples(const SweepRecord& sweep) {
  for (size_t i = 0; i < sweep.runs.size(); ++i) {
    for (const auto& round : sweep.runs[i].samples) {
      for (const double sample : round) {
        if (!(sample > 0)) fail_bad_input("the field runs[{}].samples_ms holds {}", i, sample);
      }
    }
  }
}

}  // namespace hone::bench
