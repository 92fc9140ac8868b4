// Helpers of the tactics built on oneDNN: one engine, descriptors, packed weights, post-ops.
#pragma once

#include <dnnl.hpp>

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "engine/kernel.hpp"

namespace hone::device::cpu {

const dnnl::engine& onednn_engine();
/// "2.6.3".
std::string onednn_version();

dnnl::memory::data_type onednn_type(tensor::DType dtype);
/// f32, bf16, s8, u8 or s32: what oneDNN computes with.
bool onednn_supports(tensor::DType dtype);
/// The strides of a row-major tensor of these dimensions.
dnnl::memory::dims row_major(const dnnl::memory::dims& dims);
dnnl::memory::desc onednn_desc(const engine::TensorDesc& desc);

/// The constant arranged as `wanted` (its dimensions seen as `dims`), from the store or packed into it now;
/// weights go to bfloat16 by tensor::round_weights(). If request.emulates_bf16(), values are rounded to
/// bfloat16 first, whatever their storage.
struct PackedConstant {
  const void* data = nullptr;
  engine::WeightKey key;
};
PackedConstant pack_constant(const engine::StepRequest& request, size_t operand,
                             const dnnl::memory::dims& dims, const dnnl::memory::desc& wanted,
                             engine::WeightStore& weights);
/// Packs a matrix with `dims` = (columns, depth), which the graph holds as it is when `transposed`, and as
/// (depth, columns) otherwise.
PackedConstant pack_matrix(const engine::StepRequest& request, size_t operand, const dnnl::memory::dims& dims,
                           bool transposed, const dnnl::memory::desc& wanted, engine::WeightStore& weights);

/// Packs 8-bit integers, which lie `strides` apart. uint8 becomes int8 less 128.
PackedConstant pack_bytes(const engine::StepRequest& request, size_t operand, const dnnl::memory::dims& dims,
                          const dnnl::memory::dims& strides, const dnnl::memory::desc& wanted,
                          engine::WeightStore& weights);

/// post_ops of a fused node as oneDNN's, and what they read.
struct PostOps {
  dnnl::post_ops ops;
  /// Node inputs read by binary post-ops, in order, with the oneDNN argument index of each.
  std::vector<std::pair<size_t, int>> binary_inputs;
  /// Node input that the output accumulates on, -1 for none.
  int accumulate_input = -1;
  /// How many of the node's post_ops are covered.
  size_t count = 0;
};

/// Translates post-ops for an output arranged as `output`, starting with node input `first_extra`.
/// At most `limit` of them, and none after the first that oneDNN does not have.
PostOps translate_post_ops(const engine::StepRequest& request, size_t first_extra,
                           const engine::TensorDesc& output, size_t limit, bool allow_sum);

/// A primitive with its arguments. A state holds oneDNN's stream and memory objects, to which run() gives the
/// pointers of one execution.
class OnednnKernel final : public engine::Kernel {
 public:
  explicit OnednnKernel(dnnl::primitive primitive) : primitive_(std::move(primitive)) {}

  /// Argument `dnnl_arg` is the step's input (or output) at this position.
  void bind_input(size_t position, int dnnl_arg, const dnnl::memory::desc& desc);
  void bind_output(size_t position, int dnnl_arg, const dnnl::memory::desc& desc);
  void bind_scratch(const dnnl::memory::desc& desc);
  void bind_constant(int dnnl_arg, const dnnl::memory::desc& desc, const void* data);
  /// Keeps what constants point to alive.
  void own(tensor::Tensor tensor) { owned_.push_back(std::move(tensor)); }

  void run(const engine::Run& run) const override;
  std::unique_ptr<engine::KernelState> make_state() const override;

 private:
  struct Argument {
    size_t position;
    int dnnl_arg;
    dnnl::memory::desc desc;
  };
  struct Constant {
    int dnnl_arg;
    dnnl::memory::desc desc;
    const void* data;
  };
  struct State;
  dnnl::primitive primitive_;
  std::vector<Argument> inputs_;
  std::vector<Argument> outputs_;
  std::optional<dnnl::memory::desc> scratch_;
  std::vector<Constant> constants_;
  std::vector<tensor::Tensor> owned_;
};

/// Why an implementation found by oneDNN is not worth running; empty when it is.
Refusal refuse_implementation(const char* info);

/// Runs f and turns a oneDNN refusal into an Offer's; f returns an Offer.
template <class F>
engine::Offer guard_onednn(F&& f) {
  try {
    return f();
  } catch (const dnnl::error& error) {
    return engine::Offer::refuse(std::string("oneDNN: ") + error.message);
  }
}

}  // namespace hone::device::cpu
