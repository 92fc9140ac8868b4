// Reference kernels of the recurrent family: one step of RNN, GRU and LSTM, by the equations of the ONNX
// operator specifications. Everything is computed in double and rounded once, at the outputs.
#include "reference/kernel_list.hpp"
#include "reference/kernels/recurrent_sequence.hpp"

namespace hone::reference {
namespace {

void rnn(KernelContext& context) {
  const RecurrentLayer layer(context, 1, {"Tanh"});
  layer.run(context, false, [&](size_t direction, std::span<const double> x, RecurrentState& state) {
    std::vector<double> h(state.h.size());
    for (int64_t unit = 0; unit < layer.hidden(); ++unit) {
      const double sum = layer.input_part(direction, unit, x) + layer.hidden_part(direction, unit, state.h);
      h[static_cast<size_t>(unit)] = layer.activate(direction, 0, sum);
    }
    state.h = std::move(h);
  });
}

/// Gates in the order update, reset, hidden.
void gru(KernelContext& context) {
  const RecurrentLayer layer(context, 3, {"Sigmoid", "Tanh"});
  const bool linear_before_reset = context.attributes().get_int("linear_before_reset") != 0;
  const int64_t hidden = layer.hidden();
  layer.run(context, false, [&](size_t direction, std::span<const double> x, RecurrentState& state) {
    const auto gate = [&](int64_t row) {
      const double sum = layer.input_part(direction, row, x) + layer.hidden_part(direction, row, state.h);
      return layer.activate(direction, 0, sum);
    };
    std::vector<double> reset(state.h.size());
    std::vector<double> kept(state.h.size());
    for (size_t unit = 0; unit < reset.size(); ++unit) {
      reset[unit] = gate(hidden + static_cast<int64_t>(unit));
      kept[unit] = reset[unit] * state.h[unit];
    }
    std::vector<double> h(state.h.size());
    for (size_t unit = 0; unit < h.size(); ++unit) {
      const int64_t row = 2 * hidden + static_cast<int64_t>(unit);
      const double recurrent = linear_before_reset ? reset[unit] * layer.hidden_part(direction, row, state.h)
                                                   : layer.hidden_part(direction, row, kept);
      const double candidate = layer.activate(direction, 1, layer.input_part(direction, row, x) + recurrent);
      const double update = gate(static_cast<int64_t>(unit));
      h[unit] = (1 - update) * candidate + update * state.h[unit];
    }
    state.h = std::move(h);
  });
}

/// Gates in the order input, output, forget, cell; peepholes in the order input, output, forget.
void lstm(KernelContext& context) {
  const RecurrentLayer layer(context, 4, {"Sigmoid", "Tanh", "Tanh"});
  const bool coupled = context.attributes().get_int("input_forget") != 0;
  const int64_t hidden = layer.hidden();
  const auto peepholes = read_optional(context, 7, {static_cast<int64_t>(layer.directions()), 3 * hidden});
  layer.run(context, true, [&](size_t direction, std::span<const double> x, RecurrentState& state) {
    const std::vector<double> h = state.h;
    for (int64_t unit = 0; unit < hidden; ++unit) {
      const auto sum = [&](int64_t gate) {
        const int64_t row = gate * hidden + unit;
        return layer.input_part(direction, row, x) + layer.hidden_part(direction, row, h);
      };
      const auto peephole = [&](int64_t gate) {
        return peepholes[static_cast<size_t>((static_cast<int64_t>(direction) * 3 + gate) * hidden + unit)];
      };
      double& c = state.c[static_cast<size_t>(unit)];
      const double input = layer.activate(direction, 0, sum(0) + peephole(0) * c);
      const double forget = coupled ? 1 - input : layer.activate(direction, 0, sum(2) + peephole(2) * c);
      c = forget * c + input * layer.activate(direction, 1, sum(3));
      const double output = layer.activate(direction, 0, sum(1) + peephole(1) * c);
      state.h[static_cast<size_t>(unit)] = output * layer.activate(direction, 2, c);
    }
  });
}

constexpr KernelEntry kKernels[] = {{"RNN", rnn}, {"GRU", gru}, {"LSTM", lstm}};

}  // namespace

std::span<const KernelEntry> recurrent_kernels() { return kKernels; }

}  // namespace hone::reference
