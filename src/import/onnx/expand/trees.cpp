// Ensembles of decision trees of ai.onnx.ml. All rows descend all trees at once: each level gathers the
// features and thresholds of their current nodes and selects the next nodes. A leaf is its own successor.
#include <algorithm>
#include <map>
#include <set>

#include "import/onnx/expand/rules.hpp"
#include "import/onnx/expand/scores.hpp"

namespace hone::importer {
namespace {

using graph::DType;
using graph::Tensor;
using graph::ValueId;

/// The ensemble with its nodes in the order of the file.
struct Trees {
  std::vector<int64_t> feature, yes, no;
  std::vector<float> threshold;
  std::vector<bool> missing_is_yes, is_leaf;
  std::vector<int64_t> roots;  ///< ascending by tree
  std::string mode;            ///< of all nodes that are not leaves; empty if there are none
  std::map<std::pair<int64_t, int64_t>, int64_t> index;  ///< by tree and node
  int64_t depth = 0;
};

int64_t node_index(const Trees& trees, int64_t tree, int64_t node) {
  const auto found = trees.index.find({tree, node});
  if (found == trees.index.end()) fail_bad_input("tree {} has no node {}", tree, node);
  return found->second;
}

/// Limit on the depth of trees, because each level becomes a few nodes of the graph.
constexpr int64_t kDeepest = 1000;

/// The largest number of steps from a root to a leaf; bad input if a node is reached twice.
int64_t depth_of(const Trees& trees) {
  std::vector<bool> seen(trees.feature.size(), false);
  std::vector<int64_t> level = trees.roots;
  int64_t depth = 0;
  while (true) {
    std::vector<int64_t> next;
    for (const int64_t at : level) {
      const auto i = static_cast<size_t>(at);
      if (seen[i]) fail_bad_input("the nodes of a tree form a circle");
      seen[i] = true;
      if (trees.is_leaf[i]) continue;
      next.push_back(trees.yes[i]);
      if (trees.no[i] != trees.yes[i]) next.push_back(trees.no[i]);
    }
    if (next.empty()) return depth;
    if (++depth > kDeepest) fail_bad_input("a tree has more than {} levels", kDeepest);
    level = std::move(next);
  }
}

void require_size(size_t size, size_t expected, const char* name) {
  if (size != expected) fail_bad_input("attribute '{}' has {} elements, expected {}", name, size, expected);
}

Trees read_trees(Expansion& e) {
  Trees trees;
  const auto tree_ids = e.integers("nodes_treeids");
  const auto node_ids = e.integers("nodes_nodeids");
  const auto yes_ids = e.integers("nodes_truenodeids");
  const auto no_ids = e.integers("nodes_falsenodeids");
  const auto modes = e.texts("nodes_modes");
  const auto missing = e.integers("nodes_missing_value_tracks_true");
  trees.feature = e.integers("nodes_featureids");
  trees.threshold = e.reals("nodes_values");
  e.ignore("nodes_hitrates");
  const size_t count = node_ids.size();
  require_size(tree_ids.size(), count, "nodes_treeids");
  require_size(yes_ids.size(), count, "nodes_truenodeids");
  require_size(no_ids.size(), count, "nodes_falsenodeids");
  require_size(modes.size(), count, "nodes_modes");
  require_size(trees.feature.size(), count, "nodes_featureids");
  require_size(trees.threshold.size(), count, "nodes_values");
  if (!missing.empty()) require_size(missing.size(), count, "nodes_missing_value_tracks_true");
  for (size_t i = 0; i < count; ++i) {
    const auto added = trees.index.emplace(std::pair(tree_ids[i], node_ids[i]), static_cast<int64_t>(i));
    if (!added.second) fail_bad_input("tree {} has two nodes {}", tree_ids[i], node_ids[i]);
  }
  std::vector<bool> is_child(count, false);
  for (size_t i = 0; i < count; ++i) {
    const bool leaf = modes[i] == "LEAF";
    const auto self = static_cast<int64_t>(i);
    trees.yes.push_back(leaf ? self : node_index(trees, tree_ids[i], yes_ids[i]));
    trees.no.push_back(leaf ? self : node_index(trees, tree_ids[i], no_ids[i]));
    trees.is_leaf.push_back(leaf);
    trees.missing_is_yes.push_back(!missing.empty() && missing[i] != 0);
    // Rows at a leaf of a shallow tree keep comparing there while others descend, so the leaf needs a valid
    // feature; the one in the file has no meaning.
    if (leaf) {
      trees.feature[i] = 0;
      continue;
    }
    if (!trees.mode.empty() && trees.mode != modes[i])
      fail_bad_input("attribute 'nodes_modes' has {} and {}, only one of them is supported",
                     trees.mode.substr(0, 200), modes[i].substr(0, 200));
    trees.mode = modes[i];
    is_child[static_cast<size_t>(trees.yes[i])] = is_child[static_cast<size_t>(trees.no[i])] = true;
  }
  std::set<int64_t> rooted;
  for (size_t i = 0; i < count; ++i) {
    if (is_child[i]) continue;
    if (!rooted.insert(tree_ids[i]).second) fail_bad_input("tree {} has two roots", tree_ids[i]);
    trees.roots.push_back(static_cast<int64_t>(i));
  }
  if (trees.roots.empty()) fail_bad_input("the ensemble has no root");
  trees.depth = depth_of(trees);
  return trees;
}

template <class T>
ValueId table(Expansion& e, const std::vector<T>& values) {
  return e.constant(Tensor::of<T>(values, {static_cast<int64_t>(values.size())}));
}

/// bool: true where `x` continues to the first successor.
ValueId goes_yes(Expansion& e, const std::string& mode, ValueId x, ValueId threshold) {
  static const std::map<std::string, const char*> kCompare = {{"BRANCH_LEQ", "LessOrEqual"},
                                                              {"BRANCH_LT", "Less"},
                                                              {"BRANCH_GTE", "GreaterOrEqual"},
                                                              {"BRANCH_GT", "Greater"},
                                                              {"BRANCH_EQ", "Equal"}};
  if (mode == "BRANCH_NEQ") return e.op("Not", {e.op("Equal", {x, threshold})});
  const auto found = kCompare.find(mode);
  if (found == kCompare.end())
    fail_bad_input("attribute 'nodes_modes' has '{}', which is not known", mode.substr(0, 200));
  return e.op(found->second, {x, threshold});
}

/// The leaf of each tree that each row reaches, int64 [rows, trees].
ValueId leaves(Expansion& e, const Trees& trees, ValueId x) {
  const auto gather = [&](ValueId from, ValueId index) {
    return e.op("Gather", {from, index}, attributes({{"axis", int64_t{0}}}));
  };
  const ValueId feature = table(e, trees.feature);
  const ValueId threshold = table(e, trees.threshold);
  const ValueId yes = table(e, trees.yes);
  const ValueId no = table(e, trees.no);
  const bool tracks =
      std::any_of(trees.missing_is_yes.begin(), trees.missing_is_yes.end(), [](bool b) { return b; });
  std::vector<int64_t> tracked(trees.missing_is_yes.begin(), trees.missing_is_yes.end());
  const Extent rows = e.extent(x, 0);
  const auto count = static_cast<int64_t>(trees.roots.size());
  ValueId at = e.op("Expand", {table(e, trees.roots), e.list({rows, count})});
  for (int64_t level = 0; level < trees.depth; ++level) {
    const ValueId seen = e.op("GatherElements", {x, gather(feature, at)}, attributes({{"axis", int64_t{1}}}));
    ValueId first = goes_yes(e, trees.mode, seen, gather(threshold, at));
    if (tracks) {
      const ValueId tracked_here = e.cast(gather(table(e, tracked), at), DType::kBool);
      first = e.op("Or", {first, e.op("And", {e.op("IsNaN", {seen}), tracked_here})});
    }
    at = e.op("Where", {first, gather(yes, at), gather(no, at)});
  }
  return at;
}

/// The weights that each leaf adds to each output.
struct Votes {
  std::vector<float> weights;  ///< [nodes, outputs]
  std::set<int64_t> outputs;   ///< outputs to which any leaf adds
  size_t count = 0;
  bool all_positive = true;
};

Votes read_votes(Expansion& e, const Trees& trees, const std::string& prefix, int64_t outputs) {
  const auto tree_ids = e.integers(prefix + "_treeids");
  const auto node_ids = e.integers(prefix + "_nodeids");
  const auto ids = e.integers(prefix + "_ids");
  const auto weights = e.reals(prefix + "_weights");
  const size_t count = weights.size();
  require_size(tree_ids.size(), count, (prefix + "_treeids").c_str());
  require_size(node_ids.size(), count, (prefix + "_nodeids").c_str());
  require_size(ids.size(), count, (prefix + "_ids").c_str());
  const auto nodes = static_cast<int64_t>(trees.feature.size());
  // The table is dense, so a few bytes of a file could request any amount of memory.
  const int64_t most = std::min<int64_t>(int64_t{1} << 28, 1024 * (static_cast<int64_t>(count) + 64));
  if (outputs < 1 || outputs > most / std::max<int64_t>(nodes, 1))
    fail_bad_input("{} nodes with {} outputs each are not supported", nodes, outputs);
  Votes votes;
  votes.count = count;
  votes.weights.assign(static_cast<size_t>(nodes * outputs), 0.0f);
  for (size_t i = 0; i < count; ++i) {
    if (ids[i] < 0 || ids[i] >= outputs) fail_bad_input("{} is none of {} outputs", ids[i], outputs);
    const int64_t node = node_index(trees, tree_ids[i], node_ids[i]);
    votes.weights[static_cast<size_t>(node * outputs + ids[i])] += weights[i];
    votes.outputs.insert(ids[i]);
    votes.all_positive = votes.all_positive && weights[i] >= 0;
  }
  return votes;
}

/// The sums of the leaves' votes, [rows, outputs].
ValueId count_votes(Expansion& e, const Trees& trees, const Votes& votes, ValueId x, int64_t outputs,
                    const char* reduction) {
  const auto nodes = static_cast<int64_t>(trees.feature.size());
  const ValueId weights = e.constant(Tensor::of<float>(votes.weights, {nodes, outputs}));
  const auto rows = attributes({{"axis", int64_t{0}}});
  const ValueId each = e.op("Gather", {weights, leaves(e, trees, x)}, rows);
  return e.op(reduction, {each, e.ints({1})}, attributes({{"keepdims", int64_t{0}}}));
}

ValueId add_base(Expansion& e, ValueId scores) {
  const auto base = e.reals("base_values");
  return base.empty() ? scores : e.op("Add", {scores, table(e, base)});
}

ValueId read_rows(Expansion& e) {
  const ValueId x = as_float(e, e.in(0));
  return e.rank(x) == 1 ? e.unsqueeze(x, {0}) : x;
}

void tree_regressor(Expansion& e) {
  static const std::map<std::string, const char*> kReductions = {
      {"SUM", "ReduceSum"}, {"AVERAGE", "ReduceMean"}, {"MIN", "ReduceMin"}, {"MAX", "ReduceMax"}};
  const auto aggregate = e.text("aggregate_function", "SUM");
  const auto reduction = kReductions.find(aggregate);
  if (reduction == kReductions.end())
    fail_bad_input("attribute 'aggregate_function' is '{}', which is not known", aggregate.substr(0, 200));
  const int64_t outputs = e.count("n_targets");
  const Trees trees = read_trees(e);
  const Votes votes = read_votes(e, trees, "target", outputs);
  const auto leaf_count =
      static_cast<size_t>(std::count(trees.is_leaf.begin(), trees.is_leaf.end(), true) * outputs);
  if ((aggregate == "MIN" || aggregate == "MAX") && votes.count != leaf_count)
    fail_bad_input("leaves without a weight for every target are not supported with {}", aggregate);
  const ValueId scores = count_votes(e, trees, votes, read_rows(e), outputs, reduction->second);
  e.give(0, post_transform(e, add_base(e, scores)));
}

void tree_classifier(Expansion& e) {
  const Labels labels = read_labels(e, "classlabels_int64s", "classlabels_strings");
  const auto outputs = static_cast<int64_t>(labels.count);
  const Trees trees = read_trees(e);
  const Votes votes = read_votes(e, trees, "class", outputs);
  const ValueId scores = count_votes(e, trees, votes, read_rows(e), outputs, "ReduceSum");
  const bool one_score = outputs == 2 && votes.outputs == std::set<int64_t>{0};
  if (!one_score) return give_classes(e, labels, add_base(e, scores));
  // All leaves vote for the second class. If no vote is negative, the votes are probabilities.
  if (const size_t bases = e.reals("base_values").size(); bases > 1)
    fail_bad_input("attribute 'base_values' has {} elements, expected 1 for one score", bases);
  const ValueId score = add_base(e, e.slice(scores, 1, 0, 1));
  give_two_classes(e, labels, score, votes.all_positive ? 0.5f : 0.0f, votes.all_positive);
}

constexpr ExpansionRule kRules[] = {
    {kMachineLearning, "TreeEnsembleClassifier", 0, tree_classifier},
    {kMachineLearning, "TreeEnsembleRegressor", 0, tree_regressor},
};

}  // namespace

std::span<const ExpansionRule> tree_expansions() { return kRules; }

}  // namespace hone::importer
