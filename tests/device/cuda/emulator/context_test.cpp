// Whose context keeps no memory for stacks.
#include "device/cuda/plugin/context.hpp"

#include <gtest/gtest.h>

#include "device/cuda/emulator/context_runtime.hpp"

namespace hone::device::cuda {
namespace {

std::optional<size_t> stack_after(std::optional<bool> active, bool own_process, bool has_limits = true) {
  emulator::context_runtime() = {.active = active, .stack = {}, .polls = false, .has_limits = has_limits};
  enter_context(own_process);
  EXPECT_TRUE(emulator::context_runtime().polls);
  EXPECT_EQ(emulator::context_runtime().active, true);
  return emulator::context_runtime().stack;
}

TEST(Context, OfHonesOwnProgramHasNoStacks) { EXPECT_EQ(stack_after(false, true), 0U); }

TEST(Context, KeepsItsStacksWhereTheDriverWants) { EXPECT_EQ(stack_after(false, true, false), std::nullopt); }

TEST(Context, OfOthersIsLeftAsItIs) {
  EXPECT_EQ(stack_after(true, true), std::nullopt) << "PyTorch has made it, in a worker";
  EXPECT_EQ(stack_after({}, true), std::nullopt) << "nobody tells";
  EXPECT_EQ(stack_after(false, false), std::nullopt) << "a program that uses the library";
}

}  // namespace
}  // namespace hone::device::cuda
