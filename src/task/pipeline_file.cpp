// See pipeline_file.hpp.
#include "task/pipeline_file.hpp"

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/read_described.hpp"

namespace hone::task {
namespace {

constexpr uint64_t kLargestFile = uint64_t{64} << 20;
constexpr int kDeepestJson = 64;

PipelineReport report_of(const Json& json, const std::string& path) {
  const Json version = json.is_object() ? json.value("version", Json()) : Json();
  if (version != Json(kPipelineVersion))
    fail_bad_input("the pipeline has version {}, not {}", version.dump(), kPipelineVersion);
  return base::read_described<PipelineReport>(json, path);
}

}  // namespace

std::vector<PipelineReport> parse_pipelines(std::string_view text) {
  const auto shallow = [](int depth, Json::parse_event_t, Json&) {
    if (depth > kDeepestJson) fail_bad_input("lists and objects nest more than {} deep", kDeepestJson);
    return true;
  };
  const Json json = Json::parse(text, shallow, false);
  const Json schema = json.is_object() ? json.value("schema", Json()) : Json();
  if (schema == Json(kPipelineSchema)) return {report_of(json, "")};
  const Json rows = schema == Json(kPipelinesSchema) ? json.value("rows", Json()) : Json();
  if (!rows.is_array()) fail_bad_input("this is no table of stages that hone detect --stats wrote");
  std::vector<PipelineReport> reports;
  for (size_t i = 0; i < rows.size(); ++i)
    if (rows[i].is_object() && rows[i].contains("pipeline"))
      reports.push_back(report_of(rows[i]["pipeline"], fmt::format("rows[{}].pipeline", i)));
  return reports;
}

std::vector<PipelineReport> read_pipelines(const std::filesystem::path& file) {
  const std::string text = base::read_file(file, kLargestFile);
  try {
    return parse_pipelines(text);
  } catch (const Error& error) {
    throw error.within(file.string());
  }
}

}  // namespace hone::task
