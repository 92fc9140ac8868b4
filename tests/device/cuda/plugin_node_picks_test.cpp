// Elements and slices that indices name: what is read there, or left after writing there, is what the
// reference gives.
#include "device/cuda/plugin/tactics/node_picks.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "one_node.hpp"

namespace hone::device::cuda {
namespace {

using test_support::GraphBuilder;
using test_support::one_node;
using test_support::OneNode;
using test_support::Shape;
using test_support::Tensor;
using test_support::ValueId;

int64_t wrapped(int64_t index, int64_t size) { return index < 0 ? index + size : index; }

/// Where each element that is read or written lies in the data.
std::vector<size_t> places(const ElementPicks& picks, const std::vector<int64_t>& indices) {
  std::vector<size_t> result;
  for (size_t i = 0; i < indices.size(); ++i) {
    int64_t at = wrapped(indices[i], picks.axis_size) * picks.axis_stride;
    auto rest = static_cast<int64_t>(i);
    for (size_t d = picks.sizes.size(); d-- > 0; rest /= picks.sizes[d])
      at += rest % picks.sizes[d] * picks.strides[d];
    result.push_back(static_cast<size_t>(at));
  }
  return result;
}

std::vector<size_t> places(const SlicePicks& picks, const std::vector<int64_t>& indices) {
  std::vector<size_t> result;
  const size_t length = picks.sizes.size();
  for (int64_t tuple = 0; tuple < picks.tuples; ++tuple) {
    int64_t at = tuple / picks.tuples_per_batch * picks.batch_stride;
    for (size_t k = 0; k < length; ++k)
      at += wrapped(indices[static_cast<size_t>(tuple) * length + k], picks.sizes[k]) * picks.strides[k];
    for (int64_t i = 0; i < picks.slice; ++i) result.push_back(static_cast<size_t>(at + i));
  }
  return result;
}

class NodePick : public testing::Test {
 protected:
  ValueId indices(const Shape& shape, const std::vector<int64_t>& values) {
    indices_ = values;
    return builder_.constant(Tensor::of<int64_t>(values, shape));
  }
  std::vector<size_t> found(const OneNode& checked) const {
    const NodePicks node = checked.asked(node_picks);
    EXPECT_EQ(node.refusal.text(), "");
    return std::visit([&](const auto& picks) { return places(picks, indices_); }, node.picks);
  }
  void expect_gathers(const Shape& shape, const std::string& op, ValueId which,
                      const test::AttributeList& attributes = {}) {
    const OneNode checked = one_node(builder_, shape, op, {which}, attributes);
    std::vector<float> read;
    for (const size_t at : found(checked)) read.push_back(checked.input.values<float>()[at]);
    EXPECT_THAT(read, testing::ElementsAreArray(checked.expected()[0].values<float>()));
  }
  void expect_scatters(const Shape& shape, const std::string& op, ValueId which, const Shape& updates,
                       const test::AttributeList& attributes = {}) {
    const ValueId written = builder_.random(updates);
    const OneNode checked = one_node(builder_, shape, op, {which, written}, attributes);
    const auto data = checked.input.values<float>();
    std::vector<float> result(data.begin(), data.end());
    const auto values = checked.graph.constant(written)->values<float>();
    const std::vector<size_t> at = found(checked);
    ASSERT_EQ(at.size(), values.size());
    for (size_t i = 0; i < at.size(); ++i) result[at[i]] = values[i];
    EXPECT_THAT(result, testing::ElementsAreArray(checked.expected()[0].values<float>()));
  }

  GraphBuilder builder_;
  std::vector<int64_t> indices_;
};

TEST_F(NodePick, GathersElementsOfAnInnerAxis) {
  expect_gathers({2, 3, 4}, "GatherElements", indices({2, 2, 3}, {0, 1, 2, -1, -2, -3, 1, 1, 0, 2, 0, 1}),
                 {{"axis", int64_t{1}}});
}

TEST_F(NodePick, GathersElementsOfTheFirstAxis) {
  expect_gathers({3, 2}, "GatherElements", indices({4, 2}, {0, 2, -1, 1, 1, 1, 2, 0}));
}

TEST_F(NodePick, GathersSlices) {
  expect_gathers({3, 4, 5}, "GatherND", indices({2, 3, 2}, {0, 1, -1, 2, 1, -4, 2, 3, 0, 0, 1, 1}));
}

TEST_F(NodePick, GathersSlicesOfEveryBatch) {
  expect_gathers({2, 3, 4}, "GatherND", indices({2, 2, 1}, {0, -1, 2, 1}), {{"batch_dims", int64_t{1}}});
}

TEST_F(NodePick, ScattersElements) {
  expect_scatters({3, 4}, "ScatterElements", indices({2, 3}, {0, -1, 1, 3, 0, 2}), {2, 3},
                  {{"axis", int64_t{1}}});
}

TEST_F(NodePick, ScattersSlices) {
  expect_scatters({4, 3, 2}, "ScatterND", indices({2, 1}, {3, 1}), {2, 3, 2});
}

TEST_F(NodePick, IsRefusedForEmptyIndices) {
  const OneNode checked = one_node(builder_, {3, 4}, "GatherElements", {indices({0, 4}, {})});
  EXPECT_EQ(checked.asked(node_picks).refusal.text(), "the data or the indices are empty");
}

}  // namespace
}  // namespace hone::device::cuda
