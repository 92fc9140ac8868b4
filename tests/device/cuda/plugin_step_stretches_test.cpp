// Which steps of a program become one CUDA graph where the host computes some of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "device/cuda/plugin/execution/step_graphs.hpp"

namespace hone::device::cuda {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(StepStretches, LieBetweenTheStepsOfTheHost) {
  EXPECT_THAT(step_stretches({false, false, true, false, false, false}),
              ElementsAre(StepStretch{0, 2, true}, StepStretch{2, 1, false}, StepStretch{3, 3, true}));
}

TEST(StepStretches, ASingleStepIsNotCaptured) {
  EXPECT_THAT(step_stretches({true, true, false, true, false}),
              ElementsAre(StepStretch{0, 2, false}, StepStretch{2, 1, false}, StepStretch{3, 1, false},
                          StepStretch{4, 1, false}));
}

TEST(StepStretches, OfNoStepsThereAreNone) { EXPECT_THAT(step_stretches({}), IsEmpty()); }

}  // namespace
}  // namespace hone::device::cuda
