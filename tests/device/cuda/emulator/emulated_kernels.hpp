// Helpers of the tests of emulated kernels: schedules, operands of small integers, and plain references. Sums
// of products of small integers are exact in float in any order, so that results are compared bit by bit.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "device/cuda/emulator/emulator.hpp"
#include "device/cuda/plugin/kernels/common/conv_problem.hpp"

namespace hone::device::cuda::emulated {

using emulator::Pace;
using emulator::Schedule;

inline const std::vector<Schedule> kAllSchedules = {
    {Pace::kAtOnce, Pace::kAtOnce}, {Pace::kAtOnce, Pace::kLate},    {Pace::kLate, Pace::kAtOnce},
    {Pace::kLate, Pace::kLate},     {Pace::kLate, Pace::kAtOnce, 1}, {Pace::kAnyTime, Pace::kAnyTime, 2}};
inline const std::vector<Schedule> kFewSchedules = {{Pace::kLate, Pace::kLate},
                                                    {Pace::kLate, Pace::kAnyTime, 3}};

inline std::string text(const Schedule& schedule) {
  constexpr const char* kNames[] = {"at once", "late", "at any time"};
  return std::string("copies ") + kNames[static_cast<int>(schedule.copies)] + ", products " +
         kNames[static_cast<int>(schedule.products)] + ", seed " + std::to_string(schedule.seed);
}

/// The nearest value that an element has.
inline float rounded(Element element, double value) {
  const auto single = static_cast<float>(value);
  switch (element) {
    case Element::kHalf: return __half2float(__float2half_rn(single));
    case Element::kBFloat16: return __bfloat162float(__float2bfloat16_rn(single));
    default: return single;
  }
}

/// Device memory between bytes that nobody may write; as elements they are NaN, which whoever reads them
/// shows.
class Memory {
 public:
  explicit Memory(size_t bytes) : bytes_(bytes + 2 * kGuardBytes, std::byte{0xff}) {}

  std::byte* get() { return bytes_.data() + kGuardBytes; }
  const std::byte* get() const { return bytes_.data() + kGuardBytes; }
  size_t bytes() const { return bytes_.size() - 2 * kGuardBytes; }
  bool guards_are_whole() const {
    const auto whole = [](auto from) {
      return std::all_of(from, from + kGuardBytes, [](std::byte each) { return each == std::byte{0xff}; });
    };
    return whole(bytes_.begin()) && whole(bytes_.end() - kGuardBytes);
  }

 private:
  static constexpr ptrdiff_t kGuardBytes = 256;
  std::vector<std::byte> bytes_;
};

/// An operand that a launch reads.
class Tensor {
 public:
  Tensor(Element element, std::vector<float> elements)
      : values(std::move(elements)), memory_(values.size() * element_bytes(element)) {
    for (size_t i = 0; i < values.size(); ++i) store(element, i);
  }
  /// Integers of at most that magnitude, every `one_in`-th of them in the mean, zeros between.
  Tensor(Element element, int64_t count, int most, unsigned seed, unsigned one_in = 1)
      : Tensor(element, integers(count, most, seed, one_in)) {}

  const void* get() const { return memory_.get(); }
  const float* floats() const { return reinterpret_cast<const float*>(memory_.get()); }
  void be_busy() const { emulator::also_busy_ahead(memory_.get(), memory_.bytes()); }

  std::vector<float> values;

 private:
  static std::vector<float> integers(int64_t count, int most, unsigned seed, unsigned one_in) {
    std::mt19937 random(seed);
    std::vector<float> values(static_cast<size_t>(count));
    for (float& value : values) {
      const int drawn = static_cast<int>(random() % (2 * most + 1)) - most;
      if (random() % one_in == 0) value = static_cast<float>(drawn);
    }
    return values;
  }

  void store(Element element, size_t i) {
    std::byte* const to = memory_.get() + i * element_bytes(element);
    const __half half = __float2half_rn(values[i]);
    const __nv_bfloat16 bfloat16 = __float2bfloat16_rn(values[i]);
    switch (element) {
      case Element::kHalf: std::memcpy(to, &half, sizeof half); break;
      case Element::kBFloat16: std::memcpy(to, &bfloat16, sizeof bfloat16); break;
      default: std::memcpy(to, &values[i], sizeof(float));
    }
  }

  Memory memory_;
};

/// Images, rows, columns, channels.
using Extents = std::array<int64_t, 4>;

inline Extents result_extents(const ConvProblem& p) {
  return {p.batch, p.out_height(), p.out_width(), p.filters};
}

/// An output that a launch writes: NaN before.
class Output {
 public:
  Output(Element element, const Extents& extents)
      : element_(element),
        extents_(extents),
        memory_(static_cast<size_t>(extents[0] * extents[1] * extents[2] * extents[3]) *
                element_bytes(element)) {}

  void* get() { return memory_.get(); }
  void be_busy() const { emulator::also_busy_ahead(memory_.get(), memory_.bytes()); }

  /// Whether it is what is expected: exactly, or within so many roundings to an element.
  testing::AssertionResult holds(const std::vector<double>& expected, double roundings = 0) const {
    if (!memory_.guards_are_whole()) return testing::AssertionFailure() << "memory beside it is written";
    if (expected.size() * element_bytes(element_) != memory_.bytes())
      return testing::AssertionFailure() << expected.size() << " elements are expected";
    for (size_t i = 0; i < expected.size(); ++i) {
      const double found = value(i);
      const double wanted = roundings == 0 ? rounded(element_, expected[i]) : expected[i];
      if (!(std::abs(found - wanted) <= slack(wanted, roundings)))
        return testing::AssertionFailure() << place(i) << ": " << found << ", not " << wanted;
    }
    return testing::AssertionSuccess();
  }

  double value(size_t i) const {
    const std::byte* const from = memory_.get() + i * element_bytes(element_);
    uint16_t bits = 0;
    float single = 0;
    if (element_bytes(element_) == 4) {
      std::memcpy(&single, from, sizeof single);
      return single;
    }
    std::memcpy(&bits, from, sizeof bits);
    return element_ == Element::kHalf ? __half2float(__ushort_as_half(bits))
                                      : __bfloat162float(__ushort_as_bfloat16(bits));
  }

 private:
  /// The functions of an epilogue err by a few roundings of float, which are far smaller.
  double slack(double value, double roundings) const {
    const double unit = element_ == Element::kHalf       ? 0x1p-11
                        : element_ == Element::kBFloat16 ? 0x1p-8
                                                         : 0x1p-20;
    return roundings == 0 ? 0 : roundings * unit * std::abs(value) + 1e-6;
  }

  std::string place(size_t i) const {
    auto rest = static_cast<int64_t>(i);
    std::array<int64_t, 4> at{};
    for (size_t k = 4; k-- > 0; rest /= extents_[k]) at[k] = rest % extents_[k];
    return "image " + std::to_string(at[0]) + ", row " + std::to_string(at[1]) + ", column " +
           std::to_string(at[2]) + ", channel " + std::to_string(at[3]);
  }

  Element element_;
  Extents extents_;
  Memory memory_;
};

/// Sums of a convolution without its bias, as its result lies in memory. Float holds them.
inline std::vector<double> convolve(const ConvProblem& p, const std::vector<float>& x,
                                    const std::vector<float>& w) {
  std::vector<double> sums(static_cast<size_t>(p.rows()) * p.filters);
  for (int64_t row = 0; row < p.rows(); ++row) {
    const auto left = static_cast<int>(row % p.out_width()) * p.stride_w - p.pad_left;
    const auto top = static_cast<int>(row / p.out_width() % p.out_height()) * p.stride_h - p.pad_top;
    const int64_t image = row / p.out_width() / p.out_height();
    for (int tap = 0; tap < p.kernel_h * p.kernel_w; ++tap) {
      const int from_y = top + tap / p.kernel_w * p.dilation_h;
      const int from_x = left + tap % p.kernel_w * p.dilation_w;
      if (from_y < 0 || from_y >= p.height || from_x < 0 || from_x >= p.width) continue;
      const float* const pixel = x.data() + ((image * p.height + from_y) * p.width + from_x) * p.channels;
      for (int k = 0; k < p.filters; ++k) {
        const float* const filter = w.data() + (int64_t{k} * p.kernel_h * p.kernel_w + tap) * p.channels;
        float sum = 0;
        for (int c = 0; c < p.channels; ++c) sum += pixel[c] * filter[c];
        sums[row * p.filters + k] += sum;
      }
    }
  }
  return sums;
}

/// The result of a step for a value and its operand's.
inline double applied(const EpilogueStep& step, double value, double operand) {
  switch (step.op) {
    case graph::PostOp::kRelu: return std::max(value, 0.0);
    case graph::PostOp::kLeakyRelu: return value < 0 ? step.alpha * value : value;
    case graph::PostOp::kClip: return std::clamp<double>(value, step.alpha, step.beta);
    case graph::PostOp::kHardSwish: return value * std::clamp(value / 6 + 0.5, 0.0, 1.0);
    case graph::PostOp::kSwish: return value / (1 + std::exp(-step.alpha * value));
    case graph::PostOp::kGeluErf: return 0.5 * value * std::erfc(-value / std::sqrt(2.0));
    case graph::PostOp::kGeluTanh:
      return 0.5 * value * (1 + std::tanh(std::sqrt(2 / M_PI) * (value + 0.044715 * value * value * value)));
    case graph::PostOp::kElu: return value < 0 ? step.alpha * std::expm1(value) : value;
    case graph::PostOp::kAdd: return value + operand;
    case graph::PostOp::kMul: return value * operand;
    case graph::PostOp::kSub: return value - operand;
    default: ADD_FAILURE() << "a step without a reference"; return value;
  }
}

using Steps = std::vector<EpilogueStep>;
inline const Steps kRelu = {{graph::PostOp::kRelu}};
inline const Steps kClip = {{graph::PostOp::kClip, -12, 25}};
inline const Steps kAddRelu = {{graph::PostOp::kAdd}, {graph::PostOp::kRelu}};
inline const Steps kSwish = {{graph::PostOp::kSwish, 1}};
inline const Steps kHardSwish = {{graph::PostOp::kHardSwish}};
inline const Steps kLeaky = {{graph::PostOp::kLeakyRelu, 0.25f}};
inline const Steps kGelu = {{graph::PostOp::kGeluErf}};
inline const Steps kGeluTanh = {{graph::PostOp::kGeluTanh}};
/// No kernel finishes it in registers.
inline const Steps kElu = {{graph::PostOp::kElu, 1}};

/// A convolution with operands for itself and the steps behind it, and what it gives.
class ConvCase {
 public:
  ConvCase(const ConvProblem& problem, const Steps& steps)
      : problem_(problem),
        steps_(steps),
        x_(problem.element, int64_t{problem.batch} * problem.height * problem.width * problem.channels, 2, 1),
        w_(problem.element, problem.filters * problem.depth(), 1, 2),
        bias_(Element::kFloat, problem.filters, 4, 3) {
    for (const EpilogueStep& step : steps)
      operands_.emplace_back(problem.element, is_binary(step.op) ? operand_size(step.shape) : 0, 3, 4);
  }

  /// Marks as busy what the kernel ahead may have made or still read, too.
  ConvArgs args(Output& y) const {
    ConvArgs args;
    args.x = x_.get();
    args.w = w_.get();
    args.bias = bias_.floats();
    args.y = y.get();
    args.next_waits = true;
    emulator::busy_ahead(nullptr, 0);
    x_.be_busy();
    y.be_busy();
    for (size_t i = 0; i < steps_.size(); ++i) {
      EpilogueStep& step = args.steps[args.step_count++] = steps_[i];
      if (!is_binary(step.op)) continue;
      step.operand = operands_[i].get();
      operands_[i].be_busy();
    }
    return args;
  }

  const ConvProblem& problem() const { return problem_; }
  const Tensor& x() const { return x_; }
  const Tensor& w() const { return w_; }
  std::vector<double> sums() const { return convolve(problem_, x_.values, w_.values); }
  /// Behind the bias and all steps.
  std::vector<double> finished(std::vector<double> values) const {
    for (size_t i = 0; i < values.size(); ++i) {
      values[i] += bias_.values[i % problem_.filters];
      for (size_t s = 0; s < steps_.size(); ++s) {
        const double operand =
            is_binary(steps_[s].op) ? operands_[s].values[operand_index(steps_[s].shape, i)] : 0;
        values[i] = applied(steps_[s], values[i], operand);
      }
    }
    return values;
  }
  std::vector<double> expected() const { return finished(sums()); }
  /// How far results may be from that: 0 where no step rounds.
  double roundings() const {
    const bool exact = std::none_of(steps_.begin(), steps_.end(), [](const EpilogueStep& step) {
      return step.op == graph::PostOp::kSwish || step.op == graph::PostOp::kHardSwish ||
             step.op == graph::PostOp::kGeluErf || step.op == graph::PostOp::kGeluTanh ||
             step.op == graph::PostOp::kElu;
    });
    return exact ? 0 : 2;
  }

 private:
  int64_t operand_size(OperandShape shape) const {
    if (shape == OperandShape::kFull) return problem_.rows() * problem_.filters;
    return shape == OperandShape::kPerChannel ? problem_.filters : int64_t{problem_.batch} * problem_.filters;
  }
  size_t operand_index(OperandShape shape, size_t i) const {
    if (shape == OperandShape::kFull) return i;
    const size_t channel = i % problem_.filters;
    if (shape == OperandShape::kPerChannel) return channel;
    const size_t image =
        i / (static_cast<size_t>(problem_.out_height()) * problem_.out_width() * problem_.filters);
    return image * problem_.filters + channel;
  }

  ConvProblem problem_;
  Steps steps_;
  Tensor x_;
  Tensor w_;
  Tensor bias_;
  std::vector<Tensor> operands_;
};

/// No error and no fault.
template <class Launch>
void expect_launch(const Schedule& schedule, const Launch& launch) {
  emulator::set_schedule(schedule);
  EXPECT_EQ(launch(), cudaSuccess);
  EXPECT_EQ(emulator::take_faults(), "");
}

/// Has `launch(y)` fill an output of its own under each schedule and compares.
template <class Launch>
void expect_output(const std::vector<Schedule>& schedules, Element element, const Extents& extents,
                   const std::vector<double>& expected, double roundings, const Launch& launch) {
  for (const Schedule& schedule : schedules) {
    SCOPED_TRACE(text(schedule));
    Output y(element, extents);
    expect_launch(schedule, [&] { return launch(y); });
    EXPECT_TRUE(y.holds(expected, roundings));
  }
}

}  // namespace hone::device::cuda::emulated
