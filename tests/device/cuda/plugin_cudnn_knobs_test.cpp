// The configurations that a sweep over cuDNN's knobs tries, and their texts.
#include <gmock/gmock.h>

#include "base/error.hpp"
#include "device/cuda/plugin/libraries/cudnn_knobs.hpp"

namespace hone::device::cuda {
namespace {

using testing::ElementsAre;

std::vector<std::string> texts(const std::vector<CudnnConfig>& configs) {
  std::vector<std::string> result;
  for (const CudnnConfig& config : configs) result.push_back(config_text(config));
  return result;
}

TEST(CudnnKnobs, ConfigurationsAreReadAsTheyAreWritten) {
  for (const CudnnConfig& config : {CudnnConfig{3, {}}, CudnnConfig{61, {{2, 11}, {14, 0}}}})
    EXPECT_EQ(parse_config(config_text(config)), config);
  EXPECT_EQ(config_text({61, {{2, 11}, {14, 0}}}), "e61,k2=11,k14=0");
}

TEST(CudnnKnobs, OtherTextsAreRefused) {
  for (const char* text :
       {"", "e", "3", "e3,", "e3,k2", "e3,k2=", "e3k2=1", "e3,k2=1;", "e99999999999999999999"})
    EXPECT_THROW(parse_config(text), Error) << text;
}

TEST(CudnnKnobs, ASweepChangesOneKnobAtATime) {
  const std::vector<CudnnKnobRange> ranges = {{2, 0, 2, 1}, {14, 1, 5, 2}};
  EXPECT_THAT(texts(sweep_knobs({3, {{2, 1}}}, ranges, 8)),
              ElementsAre("e3,k2=0", "e3,k2=2", "e3,k2=1,k14=1", "e3,k2=1,k14=3", "e3,k2=1,k14=5"));
}

TEST(CudnnKnobs, OfManyValuesSomeAreTriedTheEndsAmongThem) {
  const std::vector<CudnnKnobRange> ranges = {{2, 0, 100, 1}};
  EXPECT_THAT(texts(sweep_knobs({0, {}}, ranges, 3)), ElementsAre("e0,k2=0", "e0,k2=50", "e0,k2=100"));
}

TEST(CudnnKnobs, ARangeOfOneValueOrNoneChangesNothing) {
  EXPECT_THAT(sweep_knobs({0, {{2, 4}}}, std::vector<CudnnKnobRange>{{2, 4, 4, 0}, {14, 1, 0, 1}}, 8),
              testing::IsEmpty());
}

}  // namespace
}  // namespace hone::device::cuda
