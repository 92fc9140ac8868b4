// See trtexec_json.hpp.
#include "report/trtexec_json.hpp"

#include <algorithm>
#include <cctype>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/joins.hpp"

namespace hone::report {
namespace {

using analysis::Span;
using trace::Time;

double milliseconds(double nanoseconds) { return nanoseconds / 1e6; }

/// The strings of a JSON array; none when it is something else.
std::vector<std::string> strings_of(const std::string& text) {
  std::vector<std::string> strings;
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_array()) return strings;
  for (const Json& item : json) {
    if (item.is_string()) strings.push_back(item);
  }
  return strings;
}

/// The numbers of "1x64x56x56"; none when the word is something else.
std::optional<Json> parse_dimensions(std::string_view word) {
  Json dimensions = Json::array();
  std::string number;
  for (const char c : std::string(word) + "x") {
    if (c == 'x') {
      if (number.empty() || number.size() > 18) return std::nullopt;
      dimensions.push_back(std::stoll(number));
      number.clear();
    } else if (std::isdigit(static_cast<unsigned char>(c)) != 0) {
      number += c;
    } else {
      return std::nullopt;
    }
  }
  return dimensions;
}

/// Of "float32 1x64x56x56 blocked8".
Json tensor_json(const std::string& text) {
  Json dimensions = Json::array();
  std::string format;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find(' ', begin), text.size());
    const std::string word = text.substr(begin, end - begin);
    if (const std::optional<Json> found = parse_dimensions(word)) {
      dimensions = *found;
    } else if (!word.empty()) {
      format += (format.empty() ? "" : " ") + word;
    }
    begin = end + 1;
  }
  return {{"Name", ""}, {"Dimensions", dimensions}, {"Format/Datatype", format}};
}

Json tensors_json(const std::string& list) {
  Json tensors = Json::array();
  for (const std::string& text : strings_of(list)) tensors.push_back(tensor_json(text));
  return tensors;
}

/// As TensorRT names the origin of a layer.
std::string metadata_of(const std::string& sources) {
  std::string text;
  for (const std::string& source : strings_of(sources))
    text += (text.empty() ? "[ONNX Layer: " : "\x1e[ONNX Layer: ") + source + "]";
  return text;
}

/// From the first start to the last end of what was added.
struct Extent {
  std::optional<Span> span;
  void add(Time start, Time end) {
    if (!span) span = Span{start, end};
    span->start = std::min(span->start, start);
    span->end = std::max(span->end, end);
  }
};

struct Query {
  Extent enqueue, upload, compute, download;
};

Extent& part_of(Query& query, const trace::Trace& trace, const trace::DeviceEvent& event) {
  if (event.kind != trace::DeviceKind::kCopy || event.detail < 0) return query.compute;
  const trace::CopyDirection direction = trace.transfers[static_cast<size_t>(event.detail)].direction;
  if (direction == trace::CopyDirection::kHostToDevice) return query.upload;
  return direction == trace::CopyDirection::kDeviceToHost ? query.download : query.compute;
}

/// Device events belong to the iteration in which they were launched.
std::vector<Query> find_queries(const trace::Trace& trace, const std::vector<analysis::Step>& steps) {
  std::vector<Query> queries(steps.size());
  const analysis::HostIndices calls = analysis::launching_calls(trace);
  for (size_t i = 0; i < trace.device_events.size(); ++i) {
    if (calls[i] < 0) continue;
    const trace::HostEvent& call = trace.host_events[static_cast<size_t>(calls[i])];
    const auto after =
        std::upper_bound(steps.begin(), steps.end(), call.start,
                         [](Time time, const analysis::Step& step) { return time < step.host.start; });
    if (after == steps.begin() || call.start >= std::prev(after)->host.end) continue;
    Query& query = queries[static_cast<size_t>(std::prev(after) - steps.begin())];
    query.enqueue.add(call.start, call.end);
    const trace::DeviceEvent& event = trace.device_events[i];
    part_of(query, trace, event).add(event.start, event.end);
  }
  return queries;
}

Json query_json(Query query, const analysis::Step& step, Time origin) {
  const bool on_device = query.upload.span || query.compute.span || query.download.span;
  if (!on_device) query.compute.add(step.host.start, step.host.end);
  const Span enqueue = query.enqueue.span.value_or(step.host);
  const Time first = query.compute.span ? query.compute.span->start : enqueue.end;
  const Span upload = query.upload.span.value_or(Span{first, first});
  const Span compute = query.compute.span.value_or(Span{upload.end, upload.end});
  const Span download = query.download.span.value_or(Span{compute.end, compute.end});
  Json json = Json::object();
  const auto add = [&](const char* name, const Span& span) {
    json[std::string("start") + name + "Ms"] = milliseconds(static_cast<double>(span.start - origin));
    json[std::string("end") + name + "Ms"] = milliseconds(static_cast<double>(span.end - origin));
  };
  const auto length = [](const Span& span) {
    return milliseconds(static_cast<double>(span.end - span.start));
  };
  add("Enq", enqueue);
  add("H2d", upload);
  add("Compute", compute);
  add("D2h", download);
  json["h2dMs"] = length(upload);
  json["computeMs"] = length(compute);
  json["d2hMs"] = length(download);
  json["latencyMs"] = length(upload) + length(compute) + length(download);
  return json;
}

}  // namespace

Json trtexec_profile(const analysis::LayerTable& table) {
  double sum = 0;
  int64_t count = 0;
  for (const analysis::Layer& layer : table.layers) {
    sum += layer.time.mean * static_cast<double>(layer.time.n);
    count = std::max(count, layer.time.n);
  }
  Json json = Json::array({{{"count", count}}});
  for (const analysis::Layer& layer : table.layers) {
    const double total = layer.time.mean * static_cast<double>(layer.time.n);
    json.push_back({{"name", layer.name},
                    {"timeMs", milliseconds(total)},
                    {"averageMs", milliseconds(layer.time.mean)},
                    {"medianMs", milliseconds(layer.time.p50)},
                    {"percentage", sum > 0 ? 100 * total / sum : 0.0}});
  }
  return json;
}

Json trtexec_layer_info(const analysis::LayerTable& table) {
  Json layers = Json::array();
  for (const analysis::Layer& layer : table.layers) {
    Json json = {{"Name", layer.name},
                 {"LayerType", layer.kind},
                 {"Inputs", tensors_json(layer.inputs)},
                 {"Outputs", tensors_json(layer.outputs)}};
    if (!layer.tactic.empty()) json["TacticName"] = layer.tactic;
    if (const std::string metadata = metadata_of(layer.sources); !metadata.empty())
      json["Metadata"] = metadata;
    layers.push_back(json);
  }
  return {{"Layers", layers}, {"Bindings", Json::array()}};
}

Json trtexec_times(const trace::Trace& trace, const analysis::StepList& steps) {
  Json json = Json::array();
  if (steps.steps.empty()) return json;
  const std::vector<Query> queries = find_queries(trace, steps.steps);
  const Time origin = steps.steps.front().host.start;
  for (size_t i = 0; i < queries.size(); ++i) json.push_back(query_json(queries[i], steps.steps[i], origin));
  return json;
}

}  // namespace hone::report
