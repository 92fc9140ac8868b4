// Moves the padding of a Pad node into the convolution or pool that reads it.
#include <algorithm>
#include <limits>

#include "transform/constants.hpp"
#include "transform/fusion.hpp"
#include "transform/pass_list.hpp"
#include "transform/ranges.hpp"

namespace hone::transform {
namespace {

using Pads = std::vector<int64_t>;

/// The padding of spatial axes (begins, then ends), or the reason why it cannot be moved.
struct PadsOrReason {
  Pads pads;
  Refusal reason;
};

/// Constant padding of every axis (begins, then ends); empty if it is unknown.
Pads full_pads(const Graph& graph, const Node& pad, size_t rank) {
  const auto amounts = known_integers(graph, pad.input(1));
  if (!amounts) return {};
  if (!pad.has_input(3)) return amounts->size() == 2 * rank ? *amounts : Pads{};
  const auto axes = known_integers(graph, pad.input(3));
  if (!axes || amounts->size() != 2 * axes->size()) return {};
  Pads pads(2 * rank, 0);
  for (size_t i = 0; i < axes->size(); ++i) {
    const auto axis =
        static_cast<size_t>((*axes)[i] < 0 ? (*axes)[i] + static_cast<int64_t>(rank) : (*axes)[i]);
    if (axis >= rank) return {};
    pads[axis] = (*amounts)[i];
    pads[axis + rank] = (*amounts)[i + axes->size()];
  }
  return pads;
}

PadsOrReason spatial_pads(const Graph& graph, const Node& pad) {
  if (pad.attributes.get_string("mode") != "constant") {
    return {{}, fmt::format("its mode is {}", pad.attributes.get_string("mode"))};
  }
  const graph::TensorType& type = graph.value(pad.inputs[0]).type;
  if (!type.ranked() || type.dims->size() < 3) return {{}, "its input has no spatial axes"};
  const size_t rank = type.dims->size();
  const Pads pads = full_pads(graph, pad, rank);
  if (pads.empty()) return {{}, "its amounts are computed at run time"};
  if (std::any_of(pads.begin(), pads.end(), [](int64_t amount) { return amount < 0; }))
    return {{}, "it crops"};
  if (pads[0] + pads[1] + pads[rank] + pads[rank + 1] != 0) return {{}, "it pads batch or channels"};
  Pads spatial(pads.begin() + 2, pads.begin() + static_cast<int64_t>(rank));
  spatial.insert(spatial.end(), pads.begin() + static_cast<int64_t>(rank) + 2, pads.end());
  return {std::move(spatial), {}};
}

/// The value that Pad writes; nullopt if it is computed.
std::optional<double> pad_value(const Graph& graph, const Node& pad) {
  return pad.has_input(2) ? scalar_constant(graph, pad.input(2)) : 0.0;
}

/// Padding of a node whose auto_pad is NOTSET or VALID; VALID disables the attribute 'pads'.
Pads own_pads(const Node& node, size_t count) {
  const bool reads_pads = node.attributes.get_string("auto_pad") == "NOTSET" && node.attributes.has("pads");
  return reads_pads ? node.attributes.get_ints("pads") : Pads(count, 0);
}

/// Why a pool cannot take the padding; empty if it can.
Refusal pool_obstacle(const Editor& editor, const Node& pool, const Node& pad, const Pads& pads) {
  const Pads own = own_pads(pool, pads.size());
  const double value = *pad_value(editor.graph(), pad);
  if (pool.attributes.get_int("ceil_mode") != 0) return "the pool rounds its size up";
  const auto& kernel = pool.attributes.get_ints("kernel_shape");
  for (size_t i = 0; i < pads.size(); ++i) {
    if (own[i] + pads[i] >= kernel[i % kernel.size()]) return "a window would lie entirely in the padding";
  }
  if (pool.attributes.has("dilations")) {
    for (const int64_t step : pool.attributes.get_ints("dilations")) {
      if (step != 1) return "the pool is dilated";
    }
  }
  if (pool.op == "MaxPool") {
    if (pool.has_output(1)) return "the indices of the maxima are read";
    if (value == -std::numeric_limits<double>::infinity()) return {};
    if (value != 0) return fmt::format("the pool ignores its padding, which is {} here", value);
    return is_non_negative(editor, pad.inputs[0]) ? std::string() : "the padded values may be negative";
  }
  if (value != 0) return fmt::format("the padding is {}, not 0", value);
  const bool has_own = std::any_of(own.begin(), own.end(), [](int64_t amount) { return amount != 0; });
  if (has_own && pool.attributes.get_int("count_include_pad") == 0) {
    return "the pool does not count padding of its own";
  }
  return {};
}

Refusal obstacle(const Editor& editor, const Node& reader, const Node& pad, const Pads& pads) {
  const std::string& auto_pad = reader.attributes.get_string("auto_pad");
  if (auto_pad != "NOTSET" && auto_pad != "VALID")
    return fmt::format("'{}' pads by {}", reader.name, auto_pad);
  const auto value = pad_value(editor.graph(), pad);
  if (!value) return "the padding's value is computed at run time";
  if (reader.op != "Conv") return pool_obstacle(editor, reader, pad, pads);
  return *value == 0 ? std::string() : fmt::format("the padding is {}, not 0", *value);
}

void fold(Editor& editor, int32_t index, Summary& summary) {
  const Node pad = editor.node(index);
  const ValueId result = pad.outputs[0];
  const int32_t first = editor.first_reader(result);
  if (first < 0) return;
  const Node reader = editor.node(first);
  if (reader.op != "Conv" && reader.op != "AveragePool" && reader.op != "MaxPool") return;
  if (reader.inputs[0] != result) return;
  const auto refuse = [&](const Refusal& why) {
    summary.refuse(fmt::format("'{}' + '{}' not folded: {}", pad.name, reader.name, why.text()));
  };
  const int32_t reader_index = editor.single_reader(result);
  if (reader_index < 0) return refuse(fmt::format("the result of '{}' is read elsewhere", pad.name));
  const PadsOrReason found = spatial_pads(editor.graph(), pad);
  if (found.pads.empty()) return refuse(found.reason);
  const Refusal why = obstacle(editor, reader, pad, found.pads);
  if (why) return refuse(why);
  Node padded = reader;
  padded.inputs[0] = pad.inputs[0];
  Pads total = own_pads(reader, found.pads.size());
  for (size_t i = 0; i < total.size(); ++i) total[i] += found.pads[i];
  padded.attributes.set("pads", std::move(total));
  padded.attributes.set("auto_pad", std::string("NOTSET"));
  if (reader.op == "AveragePool") padded.attributes.set("count_include_pad", int64_t{1});
  join_names(padded, pad, reader);
  summary.change(fmt::format("'{}' folded into '{}'", pad.name, reader.name));
  editor.remove(index);
  editor.replace(reader_index, std::move(padded));
}

}  // namespace

Summary pad_folding(Graph& graph) {
  Summary summary;
  Editor editor(graph);
  for (int32_t i = 0; i < editor.count(); ++i) {
    if (editor.alive(i) && editor.node(i).op == "Pad") fold(editor, i, summary);
  }
  editor.commit();
  return summary;
}

}  // namespace hone::transform
