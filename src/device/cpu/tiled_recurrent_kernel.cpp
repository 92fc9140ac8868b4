// See tiled_recurrent_kernel.hpp.
//
//     some steps of X x W + biases  ->  gates of these steps, then step by step:
//     gates += h x R,  activations,  new h and c
//
// Gates stand next to each other in a row, each filled up to whole panels of columns.
#include "device/cpu/tiled_recurrent_kernel.hpp"

#include <omp.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "device/cpu/chain_math.hpp"
#include "device/cpu/recurrent_math.hpp"

namespace hone::device::cpu {
namespace {

using graph::RecurrentActivation;
using tensor::BFloat16;

/// Rows whose products with W are kept until their steps come.
constexpr int64_t kMostRows = 8 * kTileRows;

/// Rows in blocks of kTileUnits units, each block's rows next to each other, as tiles read them.
struct BlockedRows {
  uint32_t* data;
  int64_t rows;
  TileType type;

  static int64_t bytes(int64_t rows, int64_t units) {
    return 4 * rows * kTileStride * parts_of(units, kTileUnits);
  }
  uint32_t* at(int64_t row, int64_t block) const { return data + (block * rows + row) * kTileStride; }

  /// Fills a row from `depth` floats.
  void set_row(int64_t row, const float* from, int64_t depth) const {
    const int64_t width = type == TileType::kFloat32 ? 1 : 2;
    for (int64_t first = 0; first < depth; first += kTileUnits * width) {
      uint32_t* const to = at(row, first / (kTileUnits * width));
      const int64_t count = std::min(depth - first, kTileUnits * width);
      if (type == TileType::kFloat32) {
        std::memcpy(to, from + first, static_cast<size_t>(count) * sizeof(float));
        continue;
      }
      // The second half of an odd last unit meets a zero, and must be a number for that.
      if (count % 2 != 0) to[count / 2] = 0;
      narrow(from + first, reinterpret_cast<BFloat16*>(to), static_cast<size_t>(count));
    }
  }

  /// Fills a row from `bytes` bytes of the type's own elements.
  void copy_row(int64_t row, const std::byte* from, int64_t bytes) const {
    for (int64_t first = 0; first < bytes; first += 4 * kTileUnits) {
      uint32_t* const to = at(row, first / (4 * kTileUnits));
      const int64_t count = std::min(bytes - first, 4 * kTileUnits);
      if (count % 4 != 0) to[count / 4] = 0;
      std::memcpy(to, from + first, static_cast<size_t>(count));
    }
  }
};

/// Columns of some gates, packed: panel after panel, each of `units` units.
struct PackedGates {
  const uint32_t* data;
  int64_t units;
  int64_t panels;

  PackedGates part(int64_t first, int64_t count) const {
    return {data + first * units * kTileColumns, units, count};
  }
};

/// sums[row][column] = start + rows x gates; `bias`: a value a column, or null.
void multiply_rows(const BlockedRows& rows, int64_t count, const PackedGates& gates, TileStart start,
                   const float* bias, float* sums, int64_t stride) {
  const int64_t tiles = parts_of(count, tile_rows());
  for (int64_t unit = 0; unit < gates.units; unit += kTileUnits) {
    const int64_t units = std::min(gates.units - unit, kTileUnits);
    for (int64_t panel = 0; panel < gates.panels; ++panel) {
      const uint32_t* const b = gates.data + (panel * gates.units + unit) * kTileColumns;
      for (int64_t tile = 0; tile < tiles; ++tile) {
        const int64_t begin = count * tile / tiles;
        const int64_t end = count * (tile + 1) / tiles;
        TileTarget target{};
        target.columns = kTileColumns;
        target.bias = bias == nullptr ? nullptr : bias + panel * kTileColumns;
        target.start = unit > 0 ? TileStart::kSums : start;
        target.sums = sums + begin * stride + panel * kTileColumns;
        target.sums_stride = stride;
        multiply_tile(rows.type, end - begin, rows.at(begin, unit / kTileUnits), b, units, target);
      }
    }
  }
}

enum class CellKind : uint8_t { kRnn, kGru, kLstm };

struct Cell {
  CellKind kind;
  int64_t gates;
  bool linear_before_reset;
  /// The forget gate is 1 less the input gate.
  bool coupled;
  float clip;
  /// By direction, then in ONNX's order.
  std::vector<RecurrentActivation> activations;
};

Cell cell_of(const graph::Node& node, const RecurrentCell& cell, size_t directions) {
  Cell result{};
  result.kind = node.op == "LSTM" ? CellKind::kLstm : node.op == "GRU" ? CellKind::kGru : CellKind::kRnn;
  result.gates = cell.gate_count();
  result.linear_before_reset = cell.linear_before_reset;
  result.coupled = result.kind == CellKind::kLstm && node.attributes.get_int("input_forget") != 0;
  result.clip = node.attributes.get_or<float>("clip", 0.0f);
  result.activations = graph::read_activations(node.attributes, cell.activations, directions);
  return result;
}

/// A share's parts of run.scratch, in bytes from its beginning.
struct Scratch {
  int64_t x, h, kept, gates, candidates, biases, states, cells, size;
};

class TiledRecurrentKernel final : public engine::Kernel {
 public:
  TiledRecurrentKernel(const RecurrentLayer& layer, const graph::Node& node, TileType type,
                       const PackedGateWeights& weights)
      : layer_(layer),
        cell_(cell_of(node, layer.cell, layer.reversed.size())),
        type_(type),
        weights_(weights) {
    const int64_t threads = omp_get_max_threads();
    groups_ = std::clamp<int64_t>(threads / layer_.directions(), 1, layer_.batch);
    const int64_t items = parts_of(layer_.batch, groups_);
    steps_ = std::clamp<int64_t>(kMostRows / items, 1, layer_.steps);
    const auto place = [&](int64_t bytes) {
      const int64_t at = scratch_.size;
      scratch_.size += parts_of(bytes, 64) * 64;
      return at;
    };
    scratch_.x = place(BlockedRows::bytes(steps_ * items, units(layer_.features)));
    scratch_.h = place(BlockedRows::bytes(items, units(layer_.hidden)));
    scratch_.kept = place(BlockedRows::bytes(items, units(layer_.hidden)));
    scratch_.gates = place(4 * steps_ * items * row());
    scratch_.candidates = place(4 * items * gate());
    scratch_.biases = place(4 * 2 * row());
    scratch_.states = place(4 * items * gate());
    scratch_.cells = place(4 * items * gate());
  }

  int64_t scratch_bytes() const { return layer_.directions() * groups_ * scratch_.size; }

  void run(const engine::Run& run) const override {
    const auto* const lengths = static_cast<const int32_t*>(input(run, kLengths));
    for (int64_t item = 0; lengths != nullptr && item < layer_.batch; ++item) {
      if (lengths[item] < 0 || lengths[item] > layer_.steps)
        fail_bad_input("input 4 holds the length {}, outside [0, {}]", lengths[item], layer_.steps);
    }
    const int64_t shares = layer_.directions() * groups_;
#pragma omp parallel for schedule(static) if (shares > 1)
    for (int64_t share = 0; share < shares; ++share) Share(*this, run, share).run();
  }

 private:
  /// Some sequences in one direction.
  class Share {
   public:
    Share(const TiledRecurrentKernel& kernel, const engine::Run& run, int64_t share)
        : k_(kernel),
          run_(run),
          direction_(share / kernel.groups_),
          first_(kernel.layer_.batch * (share % kernel.groups_) / kernel.groups_),
          items_(kernel.layer_.batch * (share % kernel.groups_ + 1) / kernel.groups_ - first_),
          scratch_(static_cast<std::byte*>(run.scratch) + share * kernel.scratch_.size),
          x_{at<uint32_t>(kernel.scratch_.x), kernel.steps_ * items_, kernel.type_},
          h_{at<uint32_t>(kernel.scratch_.h), items_, kernel.type_},
          kept_{at<uint32_t>(kernel.scratch_.kept), items_, kernel.type_} {}

    void run() {
      add_biases();
      for (int64_t item = 0; item < items_; ++item) begin(item);
      for (int64_t step = 0; step < k_.layer_.steps; step += k_.steps_) {
        const int64_t steps = std::min(k_.steps_, k_.layer_.steps - step);
        for (int64_t i = 0; i < steps; ++i) {
          for (int64_t item = 0; item < items_; ++item) copy_input(i * items_ + item, step + i, item);
        }
        multiply_rows(x_, steps * items_, gates_of(k_.weights_.w, k_.layer_.features), TileStart::kBias,
                      biases(), gates(0), k_.row());
        for (int64_t i = 0; i < steps; ++i) run_step(step + i, gates(i * items_));
      }
      for (int64_t item = 0; item < items_; ++item) end(item);
    }

   private:
    template <class T>
    T* at(int64_t offset) const {
      return reinterpret_cast<T*>(scratch_ + offset);
    }
    float* gates(int64_t row) const { return at<float>(k_.scratch_.gates) + row * k_.row(); }
    float* biases() const { return at<float>(k_.scratch_.biases); }
    float* state(int64_t item) const { return at<float>(k_.scratch_.states) + item * k_.gate(); }
    float* cell(int64_t item) const { return at<float>(k_.scratch_.cells) + item * k_.gate(); }
    float* candidate(int64_t item) const { return at<float>(k_.scratch_.candidates) + item * k_.gate(); }
    size_t hidden() const { return static_cast<size_t>(k_.layer_.hidden); }

    PackedGates gates_of(const uint32_t* packed, int64_t depth) const {
      const int64_t panels = k_.row() / kTileColumns;
      const int64_t units = k_.units(depth);
      return PackedGates{packed, units, panels * k_.layer_.directions()}.part(direction_ * panels, panels);
    }

    /// Puts the biases of W and R into one row, but for the candidate's of R where a gate scales it, which
    /// follow.
    void add_biases() const {
      std::memset(biases(), 0, static_cast<size_t>(2 * k_.row()) * sizeof(float));
      const auto* b = static_cast<const float*>(k_.input(run_, kB));
      if (b == nullptr) return;
      const int64_t count = k_.cell_.gates * k_.layer_.hidden;
      b += direction_ * 2 * count;
      for (int64_t g = 0; g < k_.cell_.gates; ++g) {
        const bool apart = k_.cell_.linear_before_reset && g == k_.cell_.gates - 1;
        float* const to = biases() + g * k_.gate();
        float* const to_r = apart ? biases() + k_.row() : to;
        for (int64_t unit = 0; unit < k_.layer_.hidden; ++unit) {
          to[unit] += b[g * k_.layer_.hidden + unit];
          to_r[unit] += b[count + g * k_.layer_.hidden + unit];
        }
      }
    }

    int64_t length(int64_t item) const {
      const auto* const lengths = static_cast<const int32_t*>(k_.input(run_, kLengths));
      return lengths == nullptr ? k_.layer_.steps : lengths[first_ + item];
    }
    /// The place of an item in its sequence at a step. Steps after its end keep their own place.
    int64_t place(int64_t step, int64_t item) const {
      const bool turned = k_.layer_.reversed[static_cast<size_t>(direction_)] && step < length(item);
      return turned ? length(item) - 1 - step : step;
    }

    void copy_input(int64_t row, int64_t step, int64_t item) const {
      const int64_t t = place(step, item);
      const int64_t index =
          k_.layer_.batch_major ? (first_ + item) * k_.layer_.steps + t : t * k_.layer_.batch + first_ + item;
      const int64_t bytes = k_.layer_.features * k_.width();
      x_.copy_row(row, static_cast<const std::byte*>(run_.inputs[kX]) + index * bytes, bytes);
    }

    /// The offset of an item's state in the tensors of states.
    int64_t state_offset(int64_t item) const {
      const int64_t directions = k_.layer_.directions();
      return (k_.layer_.batch_major ? (first_ + item) * directions + direction_
                                    : direction_ * k_.layer_.batch + first_ + item) *
             k_.layer_.hidden;
    }

    void begin(int64_t item) const {
      const auto load = [&](RecurrentInput position, float* to) {
        const auto* const from = static_cast<const float*>(k_.input(run_, position));
        if (from == nullptr) {
          std::memset(to, 0, hidden() * sizeof(float));
        } else {
          std::memcpy(to, from + state_offset(item), hidden() * sizeof(float));
        }
      };
      load(kInitialH, state(item));
      if (k_.cell_.kind == CellKind::kLstm) load(kInitialC, cell(item));
      h_.set_row(item, state(item), k_.layer_.hidden);
    }

    void end(int64_t item) const {
      const auto store = [&](RecurrentOutput position, const float* from) {
        if (position < run_.outputs.size() && run_.outputs[position] != nullptr)
          std::memcpy(static_cast<float*>(run_.outputs[position]) + state_offset(item), from,
                      hidden() * sizeof(float));
      };
      store(kYh, state(item));
      if (k_.cell_.kind == CellKind::kLstm) store(kYc, cell(item));
    }

    void run_step(int64_t step, float* rows) const {
      const PackedGates r = gates_of(k_.weights_.r, k_.layer_.hidden);
      const int64_t panels = k_.gate() / kTileColumns;
      const bool gru = k_.cell_.kind == CellKind::kGru;
      // A GRU's candidate has a product of its own: scaled by the reset gate, or of a scaled state.
      multiply_rows(h_, items_, gru ? r.part(0, 2 * panels) : r, TileStart::kSums, nullptr, rows, k_.row());
      if (gru) run_gru(r.part(2 * panels, panels), step, rows);
      for (int64_t item = 0; item < items_; ++item) {
        if (step < length(item)) {
          float* const row = rows + item * k_.row();
          if (k_.cell_.kind == CellKind::kLstm) run_lstm(item, row);
          if (k_.cell_.kind == CellKind::kRnn) {
            activate(0, row);
            std::memcpy(state(item), row, hidden() * sizeof(float));
          }
          h_.set_row(item, state(item), k_.layer_.hidden);
        }
        write(step, item);
      }
    }

    void activate(size_t which, float* x) const {
      const size_t each = k_.cell_.activations.size() / k_.layer_.reversed.size();
      cpu::activate(k_.cell_.activations[static_cast<size_t>(direction_) * each + which], k_.cell_.clip, x,
                    hidden());
    }

    /// Gates in the order update, reset, candidate.
    void run_gru(const PackedGates& of_candidate, int64_t step, float* rows) const {
      for (int64_t item = 0; item < items_; ++item) {
        float* const row = rows + item * k_.row();
        activate(0, row);
        activate(0, row + k_.gate());
        if (k_.cell_.linear_before_reset) continue;
        multiply(row + k_.gate(), state(item), candidate(item), hidden());
        kept_.set_row(item, candidate(item), k_.layer_.hidden);
      }
      if (k_.cell_.linear_before_reset) {
        multiply_rows(h_, items_, of_candidate, TileStart::kBias, biases() + k_.row(), candidate(0),
                      k_.gate());
      } else {
        multiply_rows(kept_, items_, of_candidate, TileStart::kSums, nullptr, rows + 2 * k_.gate(), k_.row());
      }
      for (int64_t item = 0; item < items_; ++item) {
        if (step >= length(item)) continue;
        float* const row = rows + item * k_.row();
        float* const sum = row + 2 * k_.gate();
        if (k_.cell_.linear_before_reset) add_products(row + k_.gate(), candidate(item), sum, hidden());
        activate(1, sum);
        mix(row, sum, state(item), hidden());
      }
    }

    /// Gates in the order input, output, forget, cell; peepholes in the order input, output, forget.
    void run_lstm(int64_t item, float* row) const {
      const auto* peepholes = static_cast<const float*>(k_.input(run_, kPeepholes));
      if (peepholes != nullptr) peepholes += direction_ * 3 * k_.layer_.hidden;
      float* const input = row;
      float* const output = row + k_.gate();
      float* const forget = row + 2 * k_.gate();
      float* const next = row + 3 * k_.gate();
      float* const c = cell(item);
      if (peepholes != nullptr) {
        add_products(peepholes, c, input, hidden());
        add_products(peepholes + 2 * k_.layer_.hidden, c, forget, hidden());
      }
      activate(0, input);
      if (k_.cell_.coupled) {
        complement(input, forget, hidden());
      } else {
        activate(0, forget);
      }
      activate(1, next);
      update_cell(input, forget, next, c, hidden());
      if (peepholes != nullptr) add_products(peepholes + k_.layer_.hidden, c, output, hidden());
      activate(0, output);
      std::memcpy(next, c, hidden() * sizeof(float));
      activate(2, next);
      multiply(output, next, state(item), hidden());
    }

    /// Writes the state of a step to Y; zeros after the end of a sequence.
    void write(int64_t step, int64_t item) const {
      if (run_.outputs[kY] == nullptr) return;
      const int64_t t = place(step, item);
      const int64_t directions = k_.layer_.directions();
      const int64_t index = k_.layer_.batch_major
                                ? ((first_ + item) * k_.layer_.steps + t) * directions + direction_
                                : (t * directions + direction_) * k_.layer_.batch + first_ + item;
      auto* const to = static_cast<std::byte*>(run_.outputs[kY]) + index * k_.layer_.hidden * k_.width();
      if (step >= length(item)) {
        std::memset(to, 0, hidden() * static_cast<size_t>(k_.width()));
      } else if (k_.type_ == TileType::kFloat32) {
        std::memcpy(to, state(item), hidden() * sizeof(float));
      } else {
        narrow(state(item), reinterpret_cast<BFloat16*>(to), hidden());
      }
    }

    const TiledRecurrentKernel& k_;
    const engine::Run& run_;
    int64_t direction_;
    int64_t first_;
    int64_t items_;
    std::byte* scratch_;
    BlockedRows x_;
    BlockedRows h_;
    BlockedRows kept_;
  };

  const void* input(const engine::Run& run, size_t position) const {
    return position < run.inputs.size() ? run.inputs[position] : nullptr;
  }
  int64_t width() const { return type_ == TileType::kFloat32 ? 4 : 2; }
  int64_t units(int64_t depth) const { return parts_of(depth * width(), 4); }
  /// Floats of a gate and of all gates of a row.
  int64_t gate() const { return parts_of(layer_.hidden, kTileColumns) * kTileColumns; }
  int64_t row() const { return cell_.gates * gate(); }

  RecurrentLayer layer_;
  Cell cell_;
  TileType type_;
  PackedGateWeights weights_;
  /// Groups of the sequences, in each direction.
  int64_t groups_ = 1;
  /// Whose products with W are taken at once.
  int64_t steps_ = 1;
  Scratch scratch_{};
};

}  // namespace

engine::Offer tiled_recurrent_kernel(const engine::StepRequest& request, const RecurrentLayer& layer,
                                     TileType type, const PackedGateWeights& weights) {
  auto kernel = std::make_shared<TiledRecurrentKernel>(layer, request.node, type, weights);
  engine::Offer offer;
  offer.scratch_bytes = kernel->scratch_bytes();
  offer.kernel = std::move(kernel);
  return offer;
}

}  // namespace hone::device::cpu
