// See trtexec_json.hpp.
#include "report/export/trtexec_json.hpp"

#include <algorithm>
#include <cctype>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/intervals.hpp"
#include "analysis/joins.hpp"
#include "base/error.hpp"

namespace hone::report {
namespace {

using analysis::Span;
using trace::Time;

double milliseconds(double nanoseconds) { return nanoseconds / 1e6; }

/// The strings of a JSON array; none if the text is not such an array.
std::vector<std::string> strings_of(const std::string& text) {
  std::vector<std::string> strings;
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_array()) return strings;
  for (const Json& item : json) {
    if (item.is_string()) strings.push_back(item);
  }
  return strings;
}

/// The numbers of "1x64x56x56"; none if the word has another form.
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

/// Parses "float32 1x64x56x56 blocked8".
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

/// The metadata that TensorRT uses to name the origin of a layer.
std::string metadata_of(const std::string& sources) {
  std::string text;
  for (const std::string& source : strings_of(sources))
    text += (text.empty() ? "[ONNX Layer: " : "\x1e[ONNX Layer: ") + source + "]";
  return text;
}

/// The extent from the first start to the last end of the added spans.
struct Extent {
  std::optional<Span> span;
  void add(Time start, Time end) {
    if (!span) span = Span{start, end};
    span->start = std::min(span->start, start);
    span->end = std::max(span->end, end);
  }
};

/// The copies of a step, which may be far apart in time, on one stream or on several.
struct Copies {
  Extent extent;
  std::vector<Span> spans;
  void add(Time start, Time end) {
    extent.add(start, end);
    spans.push_back({start, end});
  }
  /// Time in which at least one of them ran, ns.
  Time busy() const { return analysis::total_length(analysis::unite(spans)); }
};

struct Query {
  Extent enqueue, compute;
  Copies upload, download;

  bool on_device() const { return upload.extent.span || compute.span || download.extent.span; }
};

void add_event(Query& query, const trace::Trace& trace, const trace::DeviceEvent& event) {
  const bool is_copy = event.kind == trace::DeviceKind::kCopy && event.detail >= 0;
  const trace::CopyDirection direction =
      is_copy ? trace.transfers[static_cast<size_t>(event.detail)].direction : trace::CopyDirection::kUnknown;
  if (direction == trace::CopyDirection::kHostToDevice) return query.upload.add(event.start, event.end);
  if (direction == trace::CopyDirection::kDeviceToHost) return query.download.add(event.start, event.end);
  query.compute.add(event.start, event.end);
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
    add_event(query, trace, trace.device_events[i]);
  }
  return queries;
}

Json query_json(Query& query, const analysis::Step& step, Time origin) {
  if (!query.on_device()) query.compute.add(step.host.start, step.host.end);
  const Span enqueue = query.enqueue.span.value_or(step.host);
  const Time first = query.compute.span ? query.compute.span->start : enqueue.end;
  const Span upload = query.upload.extent.span.value_or(Span{first, first});
  const Span compute = query.compute.span.value_or(Span{upload.end, upload.end});
  const Span download = query.download.extent.span.value_or(Span{compute.end, compute.end});
  Json json = Json::object();
  const auto add = [&](const char* name, const Span& span) {
    json[std::string("start") + name + "Ms"] = milliseconds(static_cast<double>(span.start - origin));
    json[std::string("end") + name + "Ms"] = milliseconds(static_cast<double>(span.end - origin));
  };
  add("Enq", enqueue);
  add("H2d", upload);
  add("Compute", compute);
  add("D2h", download);
  const Time copied_there = query.upload.busy();
  const Time computed = compute.end - compute.start;
  const Time copied_back = query.download.busy();
  json["h2dMs"] = milliseconds(static_cast<double>(copied_there));
  json["computeMs"] = milliseconds(static_cast<double>(computed));
  json["d2hMs"] = milliseconds(static_cast<double>(copied_back));
  json["latencyMs"] = milliseconds(static_cast<double>(copied_there + computed + copied_back));
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
  if (!steps.announced)
    fail_bad_input(
        "the trace announces no iterations, which trtexec's times are of: `hone profile MODEL` does, and so "
        "do "
        "ranges named ProfilerStep#0, ProfilerStep#1, ...");
  Json json = Json::array();
  std::vector<Query> queries = find_queries(trace, steps.steps);
  const Time origin = steps.steps.empty() ? 0 : steps.steps.front().host.start;
  for (size_t i = 0; i < queries.size(); ++i) json.push_back(query_json(queries[i], steps.steps[i], origin));
  return json;
}

}  // namespace hone::report
