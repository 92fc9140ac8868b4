// Sharing of bytes between values: what may lie where, and in bounded time however long a chain is.
#include "engine/program/slots.hpp"

#include <gtest/gtest.h>

namespace hone::engine {
namespace {

TensorDesc floats(int64_t count) { return {tensor::DType::kFloat32, {count}, Layout::kPlain}; }

DraftStep in_place(std::vector<int32_t> inputs, int32_t output) {
  DraftStep step;
  step.inputs = std::move(inputs);
  step.outputs = {output};
  step.in_place_input = 0;
  return step;
}

DraftStep reading(std::vector<int32_t> inputs, int32_t output) {
  DraftStep step = in_place(std::move(inputs), output);
  step.in_place_input = -1;
  return step;
}

/// Hours when every step looks at every slot.
TEST(ShareSlots, ChainOfInPlaceStepsTakesBoundedWork) {
  constexpr int32_t kSteps = 400'000;
  SlotTable slots;
  std::vector<DraftStep> steps;
  slots.add({.desc = floats(4)});
  for (int32_t i = 1; i <= kSteps; ++i) {
    slots.add({.desc = floats(4)});
    steps.push_back(in_place({i - 1}, i));
  }
  EXPECT_TRUE(share_slots(slots, steps).empty());
  for (int32_t i = 1; i <= kSteps; ++i) ASSERT_EQ(slots.root(i), std::pair(0, int64_t{0}));
}

/// Each part is read again after the concatenation, so none may be written over.
TEST(ShareSlots, PartsOfAWideConcatenationTakeBoundedWork) {
  constexpr int32_t kParts = 100'000;
  SlotTable slots;
  std::vector<DraftStep> steps;
  const int32_t whole = slots.add({.desc = floats(4 * kParts)});
  const int32_t end = slots.add({.desc = floats(4 * kParts)});
  DraftStep join = reading({}, whole);
  join.concatenates = true;
  for (int32_t i = 0; i < kParts; ++i) {
    join.inputs.push_back(slots.add({.desc = floats(4)}));
    steps.push_back(reading({}, join.inputs.back()));
  }
  const std::vector<int32_t> parts = join.inputs;
  steps.push_back(std::move(join));
  std::vector<int32_t> copies;
  for (const int32_t part : parts) {
    copies.push_back(slots.add({.desc = floats(4)}));
    steps.push_back(in_place({part}, copies.back()));
  }
  steps.push_back(reading({whole}, end));
  share_slots(slots, steps);
  EXPECT_TRUE(steps[kParts].elided);
  for (size_t i = 0; i < parts.size(); ++i) {
    ASSERT_EQ(slots.root(parts[i]), std::pair(whole, static_cast<int64_t>(i) * 16));
    ASSERT_EQ(slots.root(copies[i]).first, copies[i]) << "written over what is read at the end";
  }
}

TEST(ShareSlots, PartsThatWouldLieAtOddBytesAreCopied) {
  for (const int64_t first : {16, 3}) {
    SlotTable slots;
    const int32_t whole = slots.add({.desc = floats(first + 8)});
    const int32_t left = slots.add({.desc = floats(first)});
    const int32_t right = slots.add({.desc = floats(8)});
    std::vector<DraftStep> steps;
    steps.push_back(reading({}, left));
    steps.push_back(reading({}, right));
    DraftStep join = reading({left, right}, whole);
    join.concatenates = true;
    join.part_alignment = 64;
    steps.push_back(std::move(join));
    share_slots(slots, steps);
    EXPECT_EQ(steps[2].elided, first == 16);
    EXPECT_EQ(slots.root(right).first, first == 16 ? whole : right);
  }
}

TEST(ShareSlots, WhatAViewStillReadsIsNotWrittenOver) {
  SlotTable slots;
  const int32_t a = slots.add({.desc = floats(4)});
  const int32_t view = slots.add({.desc = floats(4), .parent = a});
  const int32_t b = slots.add({.desc = floats(4)});
  const int32_t c = slots.add({.desc = floats(4)});
  std::vector<DraftStep> steps;
  steps.push_back(reading({}, a));
  steps.push_back(in_place({a}, b));
  steps.push_back(in_place({view, b}, c));
  share_slots(slots, steps);
  EXPECT_EQ(slots.root(b).first, b);
  EXPECT_EQ(slots.root(c).first, a);
}

/// A step accumulates in two buffers: one that is free, and one that is read later and has to be copied.
TEST(ShareSlots, EachAccumulationSharesOrIsCopied) {
  SlotTable slots;
  const int32_t free = slots.add({.desc = floats(4)});
  const int32_t used = slots.add({.desc = floats(4)});
  const int32_t result = slots.add({.desc = floats(2)});
  const int32_t first = slots.add({.desc = floats(4)});
  const int32_t second = slots.add({.desc = floats(4)});
  const int32_t late = slots.add({.desc = floats(4)});
  std::vector<DraftStep> steps;
  steps.push_back(reading({}, free));
  steps.push_back(reading({}, used));
  DraftStep step = reading({free, used}, result);
  step.outputs = {result, first, second};
  step.accumulations = {{.output = 1, .input = 0}, {.output = 2, .input = 1}};
  steps.push_back(std::move(step));
  steps.push_back(reading({used, first, second}, late));
  const std::vector<PendingCopy> copies = share_slots(slots, steps);
  EXPECT_EQ(slots.root(first).first, free);
  EXPECT_EQ(slots.root(second).first, second);
  ASSERT_EQ(copies.size(), 1U);
  EXPECT_EQ(copies[0].step, 2);
  EXPECT_EQ(copies[0].from, used);
  EXPECT_EQ(copies[0].to, second);
}

TEST(ShareSlots, PartsThatDoNotOverlapDoNotHinder) {
  SlotTable slots;
  const int32_t whole = slots.add({.desc = floats(8)});
  const int32_t left = slots.add({.desc = floats(4)});
  const int32_t right = slots.add({.desc = floats(4)});
  const int32_t changed = slots.add({.desc = floats(4)});
  const int32_t late = slots.add({.desc = floats(4)});
  std::vector<DraftStep> steps;
  steps.push_back(reading({}, left));
  steps.push_back(reading({}, right));
  DraftStep join = reading({left, right}, whole);
  join.concatenates = true;
  steps.push_back(std::move(join));
  steps.push_back(in_place({left}, changed));
  steps.push_back(reading({right}, late));
  share_slots(slots, steps);
  EXPECT_TRUE(steps[2].elided);
  EXPECT_EQ(slots.root(changed), std::pair(whole, int64_t{0}));
  EXPECT_EQ(slots.root(late).first, late);
}

}  // namespace
}  // namespace hone::engine
