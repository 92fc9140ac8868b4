// See layer_graph.hpp.
#include "analysis/questions/layer_graph.hpp"

#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "base/json.hpp"

namespace hone::analysis {
namespace {

using trace::StringId;

/// Limits on the number of edges, on the numbers that are read, and on the rivals of all steps. A trace that
/// repeats a long list in many steps is not the graph of a model.
constexpr size_t kMaxEdges = 1'000'000;
constexpr size_t kMaxLooks = 4 * kMaxEdges;
constexpr size_t kMaxRivals = 100'000;
constexpr double kNsPerUs = 1e3;

Json parse_list(const std::string& text) {
  Json json = Json::parse(text, nullptr, false);
  // The list is moved, never copied: a copy would recurse as deep as the text nests, and could overflow the
  // stack.
  if (!json.is_array()) return Json::array();
  return json;
}

/// The integers of a list; other elements become -1.
std::vector<int64_t> parse_integers(const std::string& text) {
  std::vector<int64_t> result;
  for (const Json& item : parse_list(text)) {
    const bool fits = item.is_number_integer() &&
                      (!item.is_number_unsigned() || item.get_ref<const uint64_t&>() <= INT64_MAX);
    result.push_back(fits ? item.get<int64_t>() : -1);
  }
  return result;
}

class EdgeReader {
 public:
  EdgeReader(const trace::Trace& trace, const std::vector<int32_t>& layer_of_step, size_t layers)
      : trace_(trace), layer_of_step_(layer_of_step), sources_(layer_of_step.size()), reads_(layers) {}

  /// Returns nothing if there are too many edges.
  std::optional<LayerEdges> read() {
    for (size_t i = 0; i < sources_.size(); ++i) {
      std::set<int32_t> from = read_by(i);
      if (looks_ > kMaxLooks) return std::nullopt;
      const int32_t layer = layer_of_step_[i];
      if (layer < 0) {
        sources_[i].assign(from.begin(), from.end());
        continue;
      }
      sources_[i] = {layer};
      reads_[static_cast<size_t>(layer)].merge(from);
    }
    return edges();
  }

 private:
  /// The layers that computed the inputs of step `i`.
  std::set<int32_t> read_by(size_t i) {
    std::set<int32_t> result;
    for (const int64_t from : predecessors(trace_.model_steps[i].predecessors)) {
      if (++looks_ > kMaxLooks) break;
      if (from < 0 || std::cmp_greater_equal(from, i)) {
        ++refused_;
        continue;
      }
      const std::vector<int32_t>& made = sources_[static_cast<size_t>(from)];
      looks_ += made.size();
      result.insert(made.begin(), made.end());
    }
    return result;
  }

  const std::vector<int64_t>& predecessors(StringId text) {
    const auto [place, is_new] = lists_.try_emplace(text);
    if (is_new) place->second = parse_integers(trace_.text(text));
    return place->second;
  }

  std::optional<LayerEdges> edges() const {
    LayerEdges result{.predecessors = {}, .refused = refused_};
    size_t total = 0;
    for (size_t layer = 0; layer < reads_.size(); ++layer) {
      const std::set<int32_t>& from = reads_[layer];
      result.predecessors.emplace_back(from.begin(), from.lower_bound(static_cast<int32_t>(layer)));
      total += result.predecessors.back().size();
      if (total > kMaxEdges) return std::nullopt;
    }
    return result;
  }

  const trace::Trace& trace_;
  const std::vector<int32_t>& layer_of_step_;
  std::vector<std::vector<int32_t>> sources_;  ///< for each step, the layers that computed its outputs
  std::vector<std::set<int32_t>> reads_;       ///< by layer
  std::map<StringId, std::vector<int64_t>> lists_;
  size_t looks_ = 0;
  int64_t refused_ = 0;
};

std::string text_of(const Json& json, const char* name) {
  const auto found = json.find(name);
  return found != json.end() && found->is_string() ? found->get<std::string>() : std::string();
}

double time_of(const Json& json) {
  const auto found = json.find("time_us");
  if (found == json.end() || !found->is_number()) return 0;
  const double time = kNsPerUs * found->get<double>();
  return std::isfinite(time) && time > 0 ? time : 0;
}

std::vector<LayerRival> parse_rivals(const std::string& text) {
  std::vector<LayerRival> result;
  for (const Json& item : parse_list(text)) {
    if (!item.is_object() || text_of(item, "tactic").empty()) continue;
    const auto chosen = item.find("chosen");
    result.push_back({.tactic = text_of(item, "tactic"),
                      .layout = text_of(item, "layout"),
                      .time = time_of(item),
                      .chosen = chosen != item.end() && chosen->is_boolean() && chosen->get<bool>(),
                      .refusal = text_of(item, "refusal")});
  }
  return result;
}

}  // namespace

LayerEdges layer_edges(const trace::Trace& trace, const std::vector<int32_t>& layer_of_step, size_t layers) {
  if (std::optional<LayerEdges> edges = EdgeReader(trace, layer_of_step, layers).read())
    return *std::move(edges);
  return {.predecessors = std::vector<std::vector<int32_t>>(layers)};
}

std::vector<std::vector<LayerRival>> layer_rivals(const trace::Trace& trace,
                                                  const std::vector<StringId>& texts) {
  std::map<StringId, std::vector<LayerRival>> parsed;
  std::vector<std::vector<LayerRival>> result;
  size_t total = 0;
  for (const StringId text : texts) {
    const auto [place, is_new] = parsed.try_emplace(text);
    if (is_new) place->second = parse_rivals(trace.text(text));
    total += place->second.size();
    if (total > kMaxRivals) return std::vector<std::vector<LayerRival>>(texts.size());
    result.push_back(place->second);
  }
  return result;
}

}  // namespace hone::analysis
