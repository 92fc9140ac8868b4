// Steps of recurrent layers on the emulator: cells, directions and orders, states that come and go, rows of
// weights that lanes hold and others.
#include "device/cuda/emulator/emulated_kernels.hpp"
#include "device/cuda/plugin/kernels/layers/recurrent.hpp"

namespace hone::device::cuda::emulated {
namespace {

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

struct Layer {
  explicit Layer(const RecurrentSize& layer, Element element)
      : size(layer),
        products(Element::kFloat, halves(size.steps * size.batch * size.gates(), 1, 4)),
        r(element, halves(size.gates() * size.hidden, 2, 16)),
        bias(Element::kFloat, halves(2 * size.gates(), 3, 8)),
        initial_h(Element::kFloat, halves(size.state(), 4, 4)),
        initial_c(Element::kFloat, halves(size.state(), 5, 4)) {}

  static std::vector<float> halves(int64_t count, unsigned seed, int divisor) {
    std::vector<float> values = Tensor(Element::kFloat, count, 3, seed).values;
    for (float& value : values) value /= static_cast<float>(divisor);
    return values;
  }

  /// Y, then the last h, then the last c.
  std::array<std::vector<double>, 3> expected() const {
    const int64_t hidden = size.hidden;
    const int gates = recurrent_gates(size.cell);
    const int64_t d_count = size.directions;
    std::array<std::vector<double>, 3> result;
    result[0].resize(static_cast<size_t>(size.steps * size.state()));
    result[1] = {initial_h.values.begin(), initial_h.values.end()};
    result[2] = {initial_c.values.begin(), initial_c.values.end()};
    for (int64_t d = 0; d < d_count; ++d) {
      for (int64_t item = 0; item < size.batch; ++item) {
        const int64_t state = (size.batch_major ? item * d_count + d : d * size.batch + item) * hidden;
        for (int64_t step = 0; step < size.steps; ++step) {
          const int64_t time = size.reversed[d] ? size.steps - 1 - step : step;
          const int64_t row = size.batch_major ? item * size.steps + time : time * size.batch + item;
          const std::vector<double> h(result[1].begin() + state, result[1].begin() + state + hidden);
          for (int64_t unit = 0; unit < hidden; ++unit) {
            double input[4] = {}, recurrent[4] = {};
            for (int g = 0; g < gates; ++g) {
              const int64_t gate = (d * gates + g) * hidden + unit;
              input[g] = products.values[(row * d_count * gates + d * gates + g) * hidden + unit] +
                         bias.values[(d * 2 * gates + g) * hidden + unit];
              recurrent[g] = bias.values[(d * 2 * gates + gates + g) * hidden + unit];
              for (int64_t k = 0; k < hidden; ++k) recurrent[g] += r.values[gate * hidden + k] * h[k];
            }
            double& last = result[1][state + unit];
            double& c = result[2][state + unit];
            const auto sum = [&](int g) { return input[g] + recurrent[g]; };
            switch (size.cell) {
              case RecurrentCell::kLstm:
                c = sigmoid(sum(2)) * c + sigmoid(sum(0)) * std::tanh(sum(3));
                last = sigmoid(sum(1)) * std::tanh(c);
                break;
              case RecurrentCell::kGru:
                last = (1 - sigmoid(sum(0))) * std::tanh(input[2] + sigmoid(sum(1)) * recurrent[2]) +
                       sigmoid(sum(0)) * h[unit];
                break;
              case RecurrentCell::kTanh: last = std::tanh(sum(0)); break;
              case RecurrentCell::kRelu: last = std::max(sum(0), 0.0); break;
            }
            const int64_t at = size.batch_major ? (row * d_count + d) * hidden
                                                : ((time * d_count + d) * size.batch + item) * hidden;
            result[0][at + unit] = last;
          }
        }
      }
    }
    return result;
  }

  RecurrentSize size;
  Tensor products;
  Tensor r;
  Tensor bias;
  Tensor initial_h;
  Tensor initial_c;
};

void expect_layer(RecurrentSize size, Element element) {
  SCOPED_TRACE(std::to_string(static_cast<int>(size.cell)) + ", " + std::to_string(size.hidden) + " units");
  size.type = element == Element::kHalf ? FloatType::kHalf : FloatType::kFloat;
  const Layer layer(size, element);
  const auto expected = layer.expected();
  for (const Schedule& schedule : kFewSchedules) {
    Output y(element, {size.steps, 1, 1, size.state()});
    Output h(element, {1, 1, 1, size.state()});
    Output c(element, {1, 1, 1, size.state()});
    Memory workspace(static_cast<size_t>(recurrent_workspace_bytes(size)));
    expect_launch(schedule, [&] {
      emulator::busy_ahead(nullptr, 0);
      layer.products.be_busy();
      layer.initial_h.be_busy();
      layer.initial_c.be_busy();
      y.be_busy();
      RecurrentArgs args;
      args.products = layer.products.floats();
      args.r = layer.r.get();
      args.bias = layer.bias.floats();
      args.initial_h = layer.initial_h.floats();
      args.initial_c = size.cell == RecurrentCell::kLstm ? layer.initial_c.floats() : nullptr;
      args.y = y.get();
      args.last_h = h.get();
      if (size.cell == RecurrentCell::kLstm) args.last_c = c.get();
      args.workspace = workspace.get();
      return recurrent_steps(size, args, {.pdl = true, .next_waits = true});
    });
    EXPECT_TRUE(workspace.guards_are_whole());
    EXPECT_TRUE(y.holds(expected[0], 8));
    EXPECT_TRUE(h.holds(expected[1], 8));
    if (size.cell == RecurrentCell::kLstm) {
      EXPECT_TRUE(c.holds(expected[2], 8));
    }
  }
}

TEST(EmulatedRecurrent, TakesEveryCell) {
  for (const RecurrentCell cell :
       {RecurrentCell::kLstm, RecurrentCell::kGru, RecurrentCell::kTanh, RecurrentCell::kRelu})
    expect_layer({.cell = cell, .steps = 3, .hidden = 24}, Element::kFloat);
}

TEST(EmulatedRecurrent, TakesBothDirectionsAndOrders) {
  for (const bool batch_major : {false, true}) {
    expect_layer({.steps = 3,
                  .batch = 2,
                  .hidden = 8,
                  .directions = 2,
                  .reversed = {false, true},
                  .batch_major = batch_major},
                 Element::kHalf);
  }
  expect_layer({.cell = RecurrentCell::kGru, .steps = 2, .hidden = 16, .reversed = {true}}, Element::kHalf);
}

TEST(EmulatedRecurrent, TakesRowsOfSeveralTurnsAndOddOnes) {
  expect_layer({.steps = 2, .hidden = 264}, Element::kHalf);
  expect_layer({.cell = RecurrentCell::kRelu, .steps = 1, .hidden = 640}, Element::kFloat);
  expect_layer({.cell = RecurrentCell::kGru, .steps = 2, .hidden = 37}, Element::kHalf);
}

TEST(EmulatedRecurrent, RefusesWhatIsEmpty) {
  EXPECT_EQ(recurrent_refusal({.steps = 0, .hidden = 8}).text(), "it is empty");
  EXPECT_EQ(recurrent_steps({.steps = 0, .hidden = 8}, {}, {}), cudaErrorInvalidValue);
}

}  // namespace
}  // namespace hone::device::cuda::emulated
