// See elementwise_program.hpp.
#include "device/cpu/elementwise_program.hpp"

#include <algorithm>
#include <cstring>

#include "device/cpu/chain_math.hpp"
#include "device/cpu/strided_dims.hpp"
#include "tensor/shape.hpp"

namespace hone::device::cpu {
namespace {

using engine::Layout;
using engine::Shape;
using engine::TensorDesc;
using tensor::BFloat16;
using tensor::DType;

/// How a second operand goes with the rows of the output.
struct View {
  /// Its position among the operands of the walk; 0 where it lies as the output.
  size_t walked = 0;
  /// Blocked layouts: the row repeats this many elements, the channels of a block. 0 where it does not.
  size_t period = 0;
  DType dtype = DType::kFloat32;
};

Shape padded_shape(const Shape& shape, size_t rank) {
  Shape padded(rank - shape.size(), 1);
  padded.insert(padded.end(), shape.begin(), shape.end());
  return padded;
}

bool is_blocked(const TensorDesc& desc) { return engine::layout_block(desc.layout) > 1; }

/// Dimensions in the order of memory.
Shape memory_order(Shape shape, Layout layout) {
  if (layout == Layout::kChannelsLast) std::rotate(shape.begin() + 1, shape.begin() + 2, shape.end());
  return shape;
}

/// Only the output; blocked: [N, C / b, pixels * b].
StridedDims walk_of(const TensorDesc& output) {
  StridedDims walk;
  if (is_blocked(output)) {
    const Shape& shape = output.shape;
    const int64_t block = engine::layout_block(output.layout);
    walk.sizes = {shape[0], (shape[1] + block - 1) / block, block};
    for (size_t i = 2; i < shape.size(); ++i) walk.sizes[2] *= shape[i];
  } else {
    walk.sizes = memory_order(output.shape, output.layout);
  }
  walk.strides = {tensor::row_major_strides(walk.sizes)};
  return walk;
}

View add_operand(const TensorDesc& operand, const TensorDesc& output, StridedDims& walk) {
  View view;
  view.dtype = operand.dtype;
  if (operand.shape == output.shape && operand.layout == output.layout) return view;
  view.walked = walk.strides.size();
  const Shape padded = padded_shape(operand.shape, output.shape.size());
  if (!is_blocked(output)) {
    // Beside channels-last images, operands are per channel at most (chain_operand_desc).
    walk.strides.push_back(tensor::broadcast_strides(memory_order(padded, output.layout), walk.sizes));
    return view;
  }
  const int64_t block = engine::layout_block(output.layout);
  const bool per_channel = padded[1] != 1;
  walk.strides.push_back({padded[0] != 1 ? padded[1] : 0, per_channel ? block : 0, 0});
  view.period = per_channel ? static_cast<size_t>(block) : 0;
  return view;
}

/// A run of elements that one thread takes at a time: some whole rows, or a part of one.
struct Part {
  int64_t row;
  int64_t rows;
  int64_t begin;
  int64_t count;
};

class ChainKernel final : public engine::Kernel {
 public:
  ChainKernel(const TensorDesc& output, size_t main, const std::vector<ChainLink>& chain,
              const std::vector<TensorDesc>& inputs)
      : output_(output), walk_(walk_of(output)), main_(main), chain_(chain) {
    for (const ChainLink& link : chain_) {
      views_.push_back(is_binary(link.op) ? add_operand(inputs[link.operand], output_, walk_) : View{});
    }
    if (is_blocked(output_)) {
      blocks_ = walk_.sizes[1];
      tail_ = output_.shape[1] % engine::layout_block(output_.layout);
    }
    // Where rows are padded or repeat channels, they are looked at one by one.
    if (!is_blocked(output_)) {
      walk_.merge();
      rows_at_once_ = std::max<int64_t>(kRunLength / std::max<int64_t>(walk_.inner(), 1), 1);
    }
    cost_ = 0;
    for (const ChainLink& link : chain_) cost_ += link_cost(link.op);
  }

  void run(const engine::Run& run) const override {
    const int64_t rows = walk_.rows();
    const int64_t inner = walk_.inner();
    const int64_t groups = (rows + rows_at_once_ - 1) / rows_at_once_;
    const int64_t runs = (inner + kRunLength - 1) / kRunLength;
    const int64_t units = groups * runs;
    const bool parallel = rows * inner * cost_ > kWorthThreads;
#pragma omp parallel for schedule(static) if (parallel)
    for (int64_t unit = 0; unit < units; ++unit) {
      const int64_t row = unit / runs * rows_at_once_;
      const int64_t begin = unit % runs * kRunLength;
      run_part({row, std::min(rows_at_once_, rows - row), begin, std::min(kRunLength, inner - begin)},
               run.inputs, run.outputs[0]);
    }
  }

 private:
  static constexpr auto kRunLength = static_cast<int64_t>(kRun);
  /// Additions that take about as long as starting threads.
  static constexpr int64_t kWorthThreads = 1 << 18;

  /// Links read and write the tensors themselves where those are float32, and a buffer between the links.
  void run_part(const Part& part, std::span<const void* const> inputs, void* output) const {
    alignas(64) float buffer[kRun];
    const auto n = static_cast<size_t>(part.rows * part.count);
    const int64_t position = part.row * walk_.inner() + part.begin;
    const bool pads = is_last_block(part.row);
    const bool narrows = output_.dtype == DType::kBFloat16;
    float* result = narrows ? buffer : static_cast<float*>(output) + position;
    const float* x = loaded(inputs[main_], output_.dtype, position, buffer, n);
    for (size_t i = 0; i < chain_.size(); ++i) {
      float* to = i + 1 == chain_.size() ? result : buffer;
      if (is_binary(chain_[i].op)) {
        apply_binary(chain_[i], views_[i], part, inputs, x, to);
      } else {
        apply_link(chain_[i], x, nullptr, 0, to, n, narrows ? LinkError::kOfHalf : LinkError::kOfFloat);
      }
      x = to;
    }
    if (x != result) std::memcpy(result, x, n * sizeof(float));
    if (pads) clear_padding(result, n);
    if (narrows) narrow(result, static_cast<BFloat16*>(output) + position, n);
  }

  void apply_binary(const ChainLink& link, const View& view, const Part& part,
                    std::span<const void* const> inputs, const float* x, float* to) const {
    alignas(64) float y[kRun];
    const void* data = inputs[link.operand];
    const auto n = static_cast<size_t>(part.rows * part.count);
    if (view.walked == 0) {
      const int64_t position = part.row * walk_.inner() + part.begin;
      return apply_link(link, x, loaded(data, view.dtype, position, y, n), 1, to, n);
    }
    const auto* values = static_cast<const float*>(data);
    if (view.period != 0) {
      fill_pattern(values + walk_.row_offset(view.walked, part.row), view.period, part.row, y, n);
      return apply_link(link, x, y, 1, to, n);
    }
    if (part.rows == 1) {
      const float* row = values + walk_.row_offset(view.walked, part.row);
      const bool varies = walk_.inner_stride(view.walked) != 0;
      return apply_link(link, x, varies ? row + part.begin : row, varies ? 1 : 0, to, n);
    }
    gather_rows(values, view.walked, part, y);
    apply_link(link, x, y, 1, to, n);
  }

  /// Gathers the operand's elements for several short rows.
  void gather_rows(const float* values, size_t walked, const Part& part, float* y) const {
    const bool varies = walk_.inner_stride(walked) != 0;
    const auto write = [&](const float* from, float* to) {
      if (varies) {
        std::copy(from, from + part.count, to);
      } else {
        std::fill(to, to + part.count, *from);
      }
    };
    const size_t above = walk_.sizes.size() - 2;
    const int64_t step = walk_.strides[walked][above];
    for (int64_t r = 0; r < part.rows;) {
      const int64_t row = part.row + r;
      const int64_t even = std::min(walk_.sizes[above] - row % walk_.sizes[above], part.rows - r);
      const float* from = values + walk_.row_offset(walked, row);
      if (step == 0) {
        write(from, y);
        repeat(y, part.count, even);
      } else {
        for (int64_t i = 0; i < even; ++i) write(from + i * step, y + i * part.count);
      }
      r += even;
      y += even * part.count;
    }
  }

  /// Makes `times` copies of the first `count` elements, those included.
  static void repeat(float* y, int64_t count, int64_t times) {
    for (int64_t done = 1; done < times; done *= 2) {
      std::memcpy(y + done * count, y,
                  static_cast<size_t>(std::min(done, times - done) * count) * sizeof(float));
    }
  }

  /// The elements as float32: themselves, or widened to the buffer.
  static const float* loaded(const void* data, DType dtype, int64_t position, float* buffer, size_t n) {
    if (dtype != DType::kBFloat16) return static_cast<const float*>(data) + position;
    widen(static_cast<const BFloat16*>(data) + position, buffer, n);
    return buffer;
  }

  /// True if a row is the one whose channels are filled up.
  bool is_last_block(int64_t row) const { return tail_ != 0 && row % blocks_ == blocks_ - 1; }

  /// Repeats one block of channels; the channels of a partial block end with the operand.
  void fill_pattern(const float* values, size_t period, int64_t row, float* y, size_t n) const {
    const size_t real = is_last_block(row) ? static_cast<size_t>(tail_) : period;
    for (size_t i = 0; i < std::min(period, n); ++i) y[i] = i < real ? values[i] : 0.0f;
    for (size_t done = period; done < n; done *= 2)
      std::memcpy(y + done, y, std::min(done, n - done) * sizeof(float));
  }

  /// Channels of padding stay zero, as every reader of a blocked tensor relies on. Runs start at a block.
  void clear_padding(float* x, size_t n) const {
    const auto block = static_cast<size_t>(engine::layout_block(output_.layout));
    for (size_t i = 0; i < n; i += block) std::fill(x + i + tail_, x + i + block, 0.0f);
  }

  TensorDesc output_;
  StridedDims walk_;
  size_t main_;
  std::vector<ChainLink> chain_;
  std::vector<View> views_;
  int64_t rows_at_once_ = 1;
  int64_t cost_ = 0;
  int64_t blocks_ = 1;
  int64_t tail_ = 0;
};

}  // namespace

std::optional<ChainOp> chain_op(std::string_view post_op) {
  static constexpr std::pair<std::string_view, ChainOp> kNames[] = {{"relu", ChainOp::kRelu},
                                                                    {"leaky_relu", ChainOp::kLeakyRelu},
                                                                    {"clip", ChainOp::kClip},
                                                                    {"sigmoid", ChainOp::kSigmoid},
                                                                    {"tanh", ChainOp::kTanh},
                                                                    {"hard_swish", ChainOp::kHardSwish},
                                                                    {"swish", ChainOp::kSwish},
                                                                    {"hard_sigmoid", ChainOp::kHardSigmoid},
                                                                    {"elu", ChainOp::kElu},
                                                                    {"gelu_erf", ChainOp::kGeluErf},
                                                                    {"gelu_tanh", ChainOp::kGeluTanh},
                                                                    {"softplus", ChainOp::kSoftplus},
                                                                    {"mish", ChainOp::kMish},
                                                                    {"add", ChainOp::kAdd},
                                                                    {"mul", ChainOp::kMul},
                                                                    {"sub", ChainOp::kSub}};
  for (const auto& [name, op] : kNames) {
    if (name == post_op) return op;
  }
  return std::nullopt;
}

std::optional<TensorDesc> chain_operand_desc(const TensorDesc& operand, const TensorDesc& output) {
  if (operand.shape == output.shape) return TensorDesc{output.dtype, output.shape, output.layout};
  if (operand.shape.size() > output.shape.size()) return std::nullopt;
  const Shape padded = padded_shape(operand.shape, output.shape.size());
  for (size_t i = 0; i < padded.size(); ++i) {
    if (padded[i] != 1 && padded[i] != output.shape[i]) return std::nullopt;
    if (padded[i] != 1 && i > 1 && output.layout != Layout::kPlain) return std::nullopt;
  }
  return TensorDesc{DType::kFloat32, operand.shape, Layout::kPlain};
}

std::shared_ptr<const engine::Kernel> make_chain_kernel(const TensorDesc& output, size_t main,
                                                        const std::vector<ChainLink>& chain,
                                                        const std::vector<TensorDesc>& inputs) {
  return std::make_shared<ChainKernel>(output, main, chain, inputs);
}

}  // namespace hone::device::cpu
