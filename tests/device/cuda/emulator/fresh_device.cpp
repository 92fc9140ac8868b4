// Each test finds the emulator as a new process has it, and fails by faults that it has not looked at.
#include <gtest/gtest.h>

#include "device/cuda/emulator/emulator.hpp"

namespace hone::device::cuda::emulator {
namespace {

class FreshDevice : public testing::EmptyTestEventListener {
  void OnTestStart(const testing::TestInfo& /*test*/) override {
    set_multiprocessors(132);
    set_schedule({});
    busy_ahead(nullptr, 0);
  }
  void OnTestEnd(const testing::TestInfo& /*test*/) override { EXPECT_EQ(take_faults(), ""); }
};

[[maybe_unused]] const bool listens = [] {
  testing::UnitTest::GetInstance()->listeners().Append(new FreshDevice);
  return true;
}();

}  // namespace
}  // namespace hone::device::cuda::emulator
