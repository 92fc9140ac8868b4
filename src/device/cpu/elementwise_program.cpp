// See elementwise_program.hpp.
#include "device/cpu/elementwise_program.hpp"

#include <algorithm>
#include <cstring>

#include "device/cpu/chain_math.hpp"
#include "tensor/shape.hpp"

namespace hone::device::cpu {
namespace {

using engine::Layout;
using engine::Shape;
using engine::TensorDesc;
using tensor::BFloat16;
using tensor::DType;

/// How one operand moves while the output's rows go by. The output is seen as rows of `inner` contiguous
/// elements; row indices are an odometer over `outer` dimensions.
struct View {
  bool same = false;             ///< arranged as the output: the members below say nothing
  std::vector<int64_t> strides;  ///< per outer dimension, in elements
  size_t inner_stride = 1;       ///< 0: one value for the whole row
  size_t period = 0;             ///< not 0: the row repeats this many elements (channels of a block)
  DType dtype = DType::kFloat32;
};

struct Geometry {
  std::vector<int64_t> outer;
  int64_t inner = 1;
  int64_t rows() const { return tensor::element_count(outer); }
};

/// Output dimensions in memory order; blocked: [N, C / b, pixels * b].
Geometry geometry_of(const TensorDesc& output) {
  Geometry result;
  const Shape& shape = output.shape;
  if (output.layout == Layout::kBlocked8 || output.layout == Layout::kBlocked16) {
    const int64_t block = engine::layout_block(output.layout);
    result.outer = {shape[0], (shape[1] + block - 1) / block};
    result.inner = block;
    for (size_t i = 2; i < shape.size(); ++i) result.inner *= shape[i];
    return result;
  }
  Shape order = shape;
  if (output.layout == Layout::kChannelsLast) std::rotate(order.begin() + 1, order.begin() + 2, order.end());
  if (order.empty()) return result;
  result.inner = order.back();
  order.pop_back();
  result.outer = order;
  return result;
}

/// Strides of an operand broadcast in plain order to `dims`.
View broadcast_view(const Shape& operand, const Shape& dims) {
  View view;
  view.strides = tensor::broadcast_strides(operand, dims);
  view.inner_stride = view.strides.empty() ? 0 : static_cast<size_t>(view.strides.back());
  if (!view.strides.empty()) view.strides.pop_back();
  return view;
}

Shape padded_shape(const Shape& shape, size_t rank) {
  Shape padded(rank - shape.size(), 1);
  padded.insert(padded.end(), shape.begin(), shape.end());
  return padded;
}

View view_of(const TensorDesc& operand, const TensorDesc& output) {
  View view;
  if (operand.shape == output.shape && operand.layout == output.layout) {
    view.same = true;
    view.dtype = operand.dtype;
    return view;
  }
  const Shape padded = padded_shape(operand.shape, output.shape.size());
  if (output.layout == Layout::kPlain) return broadcast_view(padded, output.shape);
  if (output.layout == Layout::kChannelsLast) {
    // Broadcast operands are per channel at most (chain_operand_desc), so only N and C matter.
    Shape order = padded;
    Shape dims = output.shape;
    std::rotate(order.begin() + 1, order.begin() + 2, order.end());
    std::rotate(dims.begin() + 1, dims.begin() + 2, dims.end());
    return broadcast_view(order, dims);
  }
  const int64_t block = engine::layout_block(output.layout);
  const bool per_channel = padded[1] != 1;
  view.strides = {padded[0] != 1 ? padded[1] : 0, per_channel ? block : 0};
  view.inner_stride = 0;
  view.period = per_channel ? static_cast<size_t>(block) : 0;
  return view;
}

class ChainKernel final : public engine::Kernel {
 public:
  ChainKernel(const TensorDesc& output, size_t main, const std::vector<ChainLink>& chain,
              const std::vector<TensorDesc>& inputs)
      : output_(output), geometry_(geometry_of(output)), main_(main), chain_(chain) {
    for (const ChainLink& link : chain_) {
      views_.push_back(is_binary(link.op) ? view_of(inputs[link.operand], output_) : View{});
    }
    const int64_t block = engine::layout_block(output_.layout);
    tail_ = block > 1 ? output_.shape[1] % block : 0;
  }

  void run(const engine::Run& run) const override {
    const int64_t rows = geometry_.rows();
    const int64_t runs = (geometry_.inner + static_cast<int64_t>(kRun) - 1) / static_cast<int64_t>(kRun);
    const int64_t units = rows * runs;
    const bool parallel = output_.bytes() > (1 << 15);
#pragma omp parallel for schedule(static) if (parallel)
    for (int64_t unit = 0; unit < units; ++unit) {
      const int64_t begin = unit % runs * static_cast<int64_t>(kRun);
      run_part(unit / runs, begin, std::min<int64_t>(kRun, geometry_.inner - begin), run.inputs,
               run.outputs[0]);
    }
  }

 private:
  void run_part(int64_t row, int64_t begin, int64_t count, std::span<const void* const> inputs,
                void* output) const {
    alignas(64) float x[kRun];
    alignas(64) float y[kRun];
    const auto n = static_cast<size_t>(count);
    const int64_t position = row * geometry_.inner + begin;
    load(inputs[main_], output_.dtype, position, x, n);
    for (size_t i = 0; i < chain_.size(); ++i) {
      if (!is_binary(chain_[i].op)) {
        apply_link(chain_[i], x, nullptr, 0, n);
        continue;
      }
      const View& view = views_[i];
      const void* data = inputs[chain_[i].operand];
      const int64_t offset = view.same ? row * geometry_.inner : row_offset(view, row);
      if (view.period != 0) {
        fill_pattern(static_cast<const float*>(data) + offset, view.period, row, y, n);
        apply_link(chain_[i], x, y, 1, n);
      } else if (view.inner_stride == 0) {
        apply_link(chain_[i], x, static_cast<const float*>(data) + offset, 0, n);
      } else {
        load(data, view.dtype, offset + begin, y, n);
        apply_link(chain_[i], x, y, 1, n);
      }
    }
    if (tail_ != 0 && row % geometry_.outer[1] == geometry_.outer[1] - 1) clear_padding(x, n);
    store(x, output, position, n);
  }

  /// Where an operand's part of a row begins, without a list of indices: files may ask for any rank.
  int64_t row_offset(const View& view, int64_t row) const {
    int64_t offset = 0;
    for (size_t d = geometry_.outer.size(); d-- > 0;) {
      offset += row % geometry_.outer[d] * view.strides[d];
      row /= geometry_.outer[d];
    }
    return offset;
  }

  static void load(const void* data, DType dtype, int64_t position, float* x, size_t n) {
    if (dtype == DType::kBFloat16) {
      widen(static_cast<const BFloat16*>(data) + position, x, n);
      return;
    }
    std::memcpy(x, static_cast<const float*>(data) + position, n * sizeof(float));
  }

  void store(const float* x, void* output, int64_t position, size_t n) const {
    if (output_.dtype == DType::kBFloat16) {
      narrow(x, static_cast<BFloat16*>(output) + position, n);
      return;
    }
    std::memcpy(static_cast<float*>(output) + position, x, n * sizeof(float));
  }

  /// Repeats one block of channels; the channels of a partial block end with the operand.
  void fill_pattern(const float* values, size_t period, int64_t row, float* y, size_t n) const {
    const bool partial = tail_ != 0 && row % geometry_.outer[1] == geometry_.outer[1] - 1;
    const size_t real = partial ? static_cast<size_t>(tail_) : period;
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
  Geometry geometry_;
  size_t main_;
  std::vector<ChainLink> chain_;
  std::vector<View> views_;
  int64_t tail_ = 0;
};

}  // namespace

bool is_binary(ChainOp op) {
  switch (op) {
    case ChainOp::kAdd:
    case ChainOp::kMul:
    case ChainOp::kSub:
    case ChainOp::kReverseSub:
    case ChainOp::kDiv:
    case ChainOp::kMax:
    case ChainOp::kMin: return true;
    default: return false;
  }
}

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
