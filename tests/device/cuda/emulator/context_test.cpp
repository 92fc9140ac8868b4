// Which context is entered, which is current, and whose keeps no memory for stacks.
#include "device/cuda/plugin/context.hpp"

#include <gtest/gtest.h>

#include <functional>

#include "device/cuda/emulator/context_runtime.hpp"
#include "device/cuda/plugin/device_copies.hpp"
#include "device/cuda/plugin/device_guard.hpp"
#include "device/cuda/plugin/queue.hpp"

namespace hone::device::cuda {
namespace {

using emulator::context_of;
using emulator::context_runtime;

std::optional<size_t> stack_after(std::optional<bool> active, bool own_process, bool has_limits = true) {
  context_runtime() = {.active = active, .has_limits = has_limits};
  EXPECT_EQ(enter_context(0, own_process), context_of(0));
  EXPECT_TRUE(context_runtime().polls);
  EXPECT_EQ(context_runtime().active, true);
  return context_runtime().stack;
}

TEST(Context, OfHonesOwnProgramHasNoStacks) { EXPECT_EQ(stack_after(false, true), 0U); }

TEST(Context, KeepsItsStacksWhereTheDriverWants) { EXPECT_EQ(stack_after(false, true, false), std::nullopt); }

TEST(Context, OfOthersIsLeftAsItIs) {
  EXPECT_EQ(stack_after(true, true), std::nullopt) << "PyTorch has made it, in a worker";
  EXPECT_EQ(stack_after({}, true), std::nullopt) << "nobody tells";
  EXPECT_EQ(stack_after(false, false), std::nullopt) << "a program that uses the library";
}

TEST(Context, OfTheSecondGpuLeavesTheCallersCurrent) {
  context_runtime() = {};
  EXPECT_EQ(enter_context(1, true), context_of(1));
  EXPECT_EQ(context_runtime().entered, 1);
  EXPECT_EQ(current_context(), nullptr);
}

TEST(DeviceGuard, GoesBackToWhatWasCurrent) {
  context_runtime() = {.stack_of_contexts = {context_of(0)}};
  {
    const DeviceGuard outer(context_of(1));
    EXPECT_EQ(current_context(), context_of(1));
    {
      const DeviceGuard inner(context_of(0));
      EXPECT_EQ(current_context(), context_of(0));
    }
    const DeviceGuard nothing(nullptr);
    const DeviceGuard again(context_of(1));
    EXPECT_EQ(context_runtime().stack_of_contexts.size(), 2U);
    EXPECT_EQ(current_context(), context_of(1));
  }
  EXPECT_EQ(current_context(), context_of(0));
}

/// Both its events and the default stream belong to one GPU, whichever is current.
TEST(CudaQueue, IsOfTheGpuThatItWasMadeOn) {
  context_runtime() = {.stack_of_contexts = {context_of(0)}};
  DeviceProperties properties;
  properties.ordinal = 1;
  std::unique_ptr<const CudaQueue> queue;
  {
    const DeviceGuard guard(context_of(1));
    queue = std::make_unique<const CudaQueue>(nullptr, properties);
  }
  EXPECT_EQ(queue->place().ordinal, 1);
  for (const auto& work : std::initializer_list<std::function<void()>>{
           [&] { queue->synchronize(); }, [&] { queue->wait(*queue->record()); }}) {
    context_runtime().pushed.clear();
    work();
    ASSERT_FALSE(context_runtime().pushed.empty());
    for (const CUcontext context : context_runtime().pushed) EXPECT_EQ(context, context_of(1));
    EXPECT_EQ(current_context(), context_of(0));
  }
}

TEST(DeviceCopies, AreSharedWithinOneGpuAlone) {
  GpuMemory first(context_of(0));
  GpuMemory second(context_of(1));
  DeviceCopies copies(first);
  DeviceCopies others(second);
  const tensor::Tensor host(tensor::DType::kUInt8, {512});
  const auto copy = copies.of(host);
  EXPECT_EQ(copies.of(host)->data(), copy->data());
  EXPECT_NE(others.of(host)->data(), copy->data());
  EXPECT_EQ(copies.of_content(host)->data(), copies.of_content(host.clone())->data());
  EXPECT_EQ(copy->context(), context_of(0));
  EXPECT_EQ(first.held(), 512) << "of the other ones nobody holds any";
  EXPECT_EQ(second.held(), 0);
  EXPECT_EQ(second.peak(), 512);
}

}  // namespace
}  // namespace hone::device::cuda
