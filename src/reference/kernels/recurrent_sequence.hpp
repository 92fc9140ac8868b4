// The common part of RNN, GRU and LSTM: operands in double, the loop over every sequence of a batch in every
// direction, and the outputs in either layout.
#pragma once

#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "graph/recurrent.hpp"
#include "reference/kernel.hpp"

namespace hone::reference {

/// Hidden state and, for an LSTM, cell state of one sequence.
struct RecurrentState {
  std::vector<double> h;
  std::vector<double> c;
};

/// A layer's weights and sizes. Gate rows are numbered gate * hidden + unit.
class RecurrentLayer {
 public:
  /// Throws bad input that names the input whose shape does not fit.
  RecurrentLayer(const KernelContext& context, int64_t gates,
                 const std::vector<std::string_view>& activations);

  int64_t hidden() const { return hidden_; }
  size_t directions() const { return reversed_.size(); }
  /// Row `row` of W x + Wb.
  double input_part(size_t direction, int64_t row, std::span<const double> x) const;
  /// Row `row` of R h + Rb.
  double hidden_part(size_t direction, int64_t row, std::span<const double> h) const;
  /// Applies activation `which` of a direction to the clipped value.
  double activate(size_t direction, size_t which, double value) const;

  /// One step of one sequence: reads x and the old state, writes the new state.
  using Step = std::function<void(size_t direction, std::span<const double> x, RecurrentState& state)>;
  /// Runs every sequence and fills outputs Y, Y_h and (if `cell_state`) Y_c. Steps beyond a sequence's length
  /// are zero in Y; the last states are those at its end.
  void run(KernelContext& context, bool cell_state, const Step& step) const;

 private:
  int64_t input_offset(int64_t step, int64_t item) const;
  int64_t output_offset(int64_t step, size_t direction, int64_t item) const;
  int64_t state_offset(size_t direction, int64_t item) const;
  Shape state_shape() const;
  std::vector<double> read_state(const KernelContext& context, size_t input) const;
  std::vector<int64_t> read_lengths(const KernelContext& context) const;

  int64_t gates_ = 0;
  int64_t steps_ = 0;
  int64_t batch_ = 0;
  int64_t inputs_ = 0;
  int64_t hidden_ = 0;
  bool batch_major_ = false;
  double clip_ = 0;  // none if 0
  std::vector<bool> reversed_;
  std::vector<graph::RecurrentActivation> activations_;
  std::vector<double> x_;
  std::vector<double> w_;
  std::vector<double> r_;
  std::vector<double> b_;
};

/// An optional input as doubles, or zeros of this shape if it is absent; bad input if its shape differs.
std::vector<double> read_optional(const KernelContext& context, size_t input, const Shape& shape);

}  // namespace hone::reference
