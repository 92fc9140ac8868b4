// The convolution for few pixels (resident_gemm) on the emulator: every tile with its slices, every cluster.
#include <algorithm>
#include <map>
#include <tuple>

#include "device/cuda/conv_problems.hpp"
#include "device/cuda/emulator/emulated_kernels.hpp"
#include "device/cuda/plugin/kernels/gemm/resident/resident_gemm.hpp"

namespace hone::device::cuda::emulated {
namespace {

/// Steps that only the list of steps can do, with operands of all shapes.
const Steps kGeneral = {{graph::PostOp::kMul, 0, 0, OperandShape::kPerChannel},
                        {graph::PostOp::kAdd},
                        {graph::PostOp::kLeakyRelu, 0.25F},
                        {graph::PostOp::kSub, 0, 0, OperandShape::kPerImageChannel}};

void expect_convolution(const ConvCase& test, const ResidentConfig& config,
                        const std::vector<double>& expected, const std::vector<Schedule>& schedules) {
  const ConvProblem& p = test.problem();
  SCOPED_TRACE(config.text() + ", " + std::to_string(p.channels) + " to " + std::to_string(p.filters) +
               " by " + std::to_string(p.kernel_h) + " x " + std::to_string(p.kernel_w));
  expect_output(schedules, p.element, result_extents(p), expected, test.roundings(), [&](Output& y) {
    return launch_resident(p, config, test.args(y), {.device = &emulator::properties(), .pdl = true});
  });
}

/// A configuration of each compiled tile that the problem has, of which there must be so many; the sizes of
/// their clusters take turns.
void expect_all_tiles(const ConvProblem& p, const Steps& steps, size_t at_least) {
  const ConvCase test(p, steps);
  const std::vector<double> expected = test.expected();
  std::map<std::tuple<int, int, int>, std::vector<ResidentConfig>> tiles;
  for (const ResidentConfig& config : resident_configs(p, {}, 1000))
    tiles[{config.tile_m, config.tile_n, config.slices}].push_back(config);
  EXPECT_GE(tiles.size(), at_least);
  size_t turn = 0;
  for (const auto& [tile, configs] : tiles)
    expect_convolution(test, configs[turn++ % configs.size()], expected, kFewSchedules);
}

/// Two images whose pixels do not fill their last tile; filters that do not fill theirs. Few of both: a
/// product of a warp takes the emulator a turn of all its threads.
ConvProblem images(Element element, int channels, int kernel) {
  ConvProblem p = problem(2, 4, channels, 24, kernel);
  p.element = element;
  p.width = 3;
  return p;
}

TEST(EmulatedResident, PixelsInEveryTile) {
  expect_all_tiles(images(Element::kHalf, 128, 1), kAddRelu, 10);
  expect_all_tiles(images(Element::kBFloat16, 128, 1), kGeneral, 10);
}

TEST(EmulatedResident, WindowsInEveryTile) {
  expect_all_tiles(images(Element::kHalf, 128, 3), kGeneral, 4);
  expect_all_tiles(images(Element::kBFloat16, 32, 3), kClip, 8);
}

TEST(EmulatedResident, WindowsOfAllKinds) {
  std::vector<ConvProblem> windows = {problem(1, 9, 32, 24, 3, 2), problem(2, 6, 16, 40, 5),
                                      problem(3, 4, 64, 8, 1)};
  windows[0].pad_top = windows[0].pad_left = 0;
  windows.push_back(problem(1, 11, 32, 16));
  windows.back().dilation_h = windows.back().dilation_w = 2;
  windows.back().pad_top = windows.back().pad_left = 2;
  windows.push_back(problem(2, 2, 32, 16));  // images smaller than their windows
  for (const ConvProblem& p : windows) expect_all_tiles(p, kRelu, 1);
}

TEST(EmulatedResident, AnyOrderGivesTheSame) {
  const ConvCase test(images(Element::kHalf, 128, 3), kAddRelu);
  const auto configs = resident_configs(test.problem(), {}, 1000);
  for (const int parts : {1, 2, 4, 8}) {
    const auto found = std::find_if(configs.begin(), configs.end(),
                                    [&](const ResidentConfig& config) { return config.parts == parts; });
    ASSERT_NE(found, configs.end()) << parts;
    expect_convolution(test, *found, test.expected(), kAllSchedules);
  }
}

}  // namespace
}  // namespace hone::device::cuda::emulated
