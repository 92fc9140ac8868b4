// Completes ranges input by input; symbols transfer sizes from named inputs to others.
#include "engine/complete_profiles.hpp"

#include <fmt/ranges.h>

#include <algorithm>

#include "base/error.hpp"
#include "engine/example_shapes.hpp"
#include "engine/shape_profile.hpp"
#include "reference/interpreter.hpp"

namespace hone::engine {
namespace {

struct Range {
  int64_t min = 0;
  int64_t opt = 0;
  int64_t max = 0;
};

class Completion {
 public:
  Completion(const graph::Graph& graph, const std::map<std::string, ShapeProfile>& named, OpenDims open,
             int64_t default_size, const std::map<std::string, int64_t>& typical)
      : graph_(graph), named_(named), open_(open), default_size_(default_size), typical_(typical) {}

  std::map<std::string, ShapeProfile> run() {
    check_names();
    for (const graph::ValueId id : graph_.inputs) {
      const graph::Value& input = graph_.value(id);
      if (const auto found = named_.find(input.name); found != named_.end())
        profiles_[input.name] = completed(input, found->second);
    }
    std::vector<Shape> tuned;
    for (const graph::ValueId id : graph_.inputs) {
      const graph::Value& input = graph_.value(id);
      if (!profiles_.contains(input.name)) profiles_[input.name] = derived(input);
      tuned.push_back(profiles_[input.name].opt);
    }
    if (const std::string conflict = reference::symbol_conflict(graph_, tuned); !conflict.empty())
      fail_usage("{}", conflict);
    return std::move(profiles_);
  }

 private:
  void check_names() const {
    std::vector<std::string> inputs;
    for (const graph::ValueId id : graph_.inputs) inputs.push_back(graph_.value(id).name);
    for (const auto& [name, profile] : named_) {
      if (std::find(inputs.begin(), inputs.end(), name) == inputs.end())
        fail_usage("the model has no input named '{}', its inputs are {}", name, fmt::join(inputs, ", "));
    }
  }

  ShapeProfile completed(const graph::Value& input, ShapeProfile profile) {
    if (profile.opt.empty()) profile.opt = profile.max.empty() ? profile.min : profile.max;
    const Shape& opt = profile.opt;
    const bool ranked = input.type.ranked() && input.type.dims->size() == opt.size();
    const auto bounded = [&](const Shape& bounds, int64_t widest) {
      if (!bounds.empty()) return bounds;
      Shape shape = opt;
      if (open_ == OpenDims::kAsTuned || !ranked) return shape;
      for (size_t i = 0; i < shape.size(); ++i) {
        if (!(*input.type.dims)[i].known()) shape[i] = widest;
      }
      return shape;
    };
    profile.min = bounded(profile.min, 0);
    profile.max = bounded(profile.max, kAnySize);
    if (const std::string fault = profile_fault(input, profile); !fault.empty())
      fail_usage("shape range of input '{}': {}", input.name, fault);
    for (size_t i = 0; ranked && i < opt.size(); ++i)
      sizes_.try_emplace((*input.type.dims)[i].symbol(), Range{profile.min[i], opt[i], profile.max[i]});
    sizes_.erase("");  // dimensions without a name are independent of each other
    return profile;
  }

  ShapeProfile derived(const graph::Value& input) const {
    if (!input.type.ranked())
      fail_usage("input '{}' has no known rank; name its shape with --optShapes", input.name);
    ShapeProfile profile;
    for (const graph::Dim& dim : *input.type.dims) {
      const Range range = dim.known() ? Range{dim.value(), dim.value(), dim.value()}
                                      : open_range(input, dim, profile.opt.size());
      profile.min.push_back(range.min);
      profile.opt.push_back(range.opt);
      profile.max.push_back(range.max);
    }
    return profile;
  }

  Range open_range(const graph::Value& input, const graph::Dim& dim, size_t index) const {
    const auto size = sizes_.find(dim.symbol());
    const bool named = size != sizes_.end();
    const auto typical = typical_.find(dim.symbol());
    const bool known = typical != typical_.end();
    const int64_t otherwise = known ? typical->second : default_size_;
    if (open_ == OpenDims::kAnySize) return {0, named ? size->second.opt : otherwise, kAnySize};
    if (named) return size->second;
    if (known) return {otherwise, otherwise, otherwise};
    // An engine that accepts only size 1 in other dimensions would be useless.
    if (index > 0) {
      std::map<std::string, int64_t> sizes = typical_;
      for (const auto& [symbol, range] : sizes_) sizes[symbol] = range.opt;
      fail_usage(
          "dimension {} ('{}') of input '{}' is open: give --optShapes {} (for a range --minShapes and "
          "--maxShapes)",
          index, dim.text(), input.name, example_shapes(graph_, sizes));
    }
    return {default_size_, default_size_, default_size_};
  }

  const graph::Graph& graph_;
  const std::map<std::string, ShapeProfile>& named_;
  OpenDims open_;
  int64_t default_size_;
  const std::map<std::string, int64_t>& typical_;
  std::map<std::string, Range> sizes_;
  std::map<std::string, ShapeProfile> profiles_;
};

}  // namespace

std::map<std::string, ShapeProfile> complete_profiles(const graph::Graph& graph,
                                                      const std::map<std::string, ShapeProfile>& named,
                                                      OpenDims open, int64_t default_size,
                                                      const std::map<std::string, int64_t>& typical) {
  return Completion(graph, named, open, default_size, typical).run();
}

}  // namespace hone::engine
