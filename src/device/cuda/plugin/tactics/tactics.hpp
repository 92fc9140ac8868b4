// The table of the CUDA device, to which each file with tactics in this folder adds its rows, and the helpers
// that they share.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "device/cuda/plugin/gpu.hpp"
#include "device/cuda/plugin/kernels/common/conv_problem.hpp"
#include "device/cuda/plugin/kernels/common/launch_options.hpp"
#include "device/cuda/plugin/kernels/convolution/winograd.hpp"
#include "device/cuda/plugin/kernels/layers/pooling.hpp"
#include "device/cuda/regions/stem/plugin/kernels/stem.hpp"
#include "engine/kernel.hpp"
#include "graph/convolution_geometry.hpp"
#include "graph/post_op.hpp"
#include "graph/region.hpp"

namespace hone::device::cuda {

using engine::TacticList;

class CudnnCompiler;
class Cublaslt;

// Rows keep the references with which they are made; the referenced objects must outlive them.

/// Conv and FusedConv of images with few channels, also with the following max pool and convolution (regions
/// conv_max_pool and stem), with hone's own kernels.
void add_stem_tactics(TacticList& list, Gpu& gpu);
/// Conv and FusedConv with hone's own implicit GEMM kernels.
void add_gemm_tactics(TacticList& list, Gpu& gpu);
/// Convolutions of 3 x 3 with filters in registers.
void add_stationary_convolution_tactics(TacticList& list, Gpu& gpu);
/// Conv and FusedConv through cuDNN.
void add_cudnn_tactics(TacticList& list, Gpu& gpu, CudnnCompiler& cudnn);
/// ConvTranspose.
void add_transposed_convolution_tactics(TacticList& list);
/// Depthwise, grouped and IEEE float convolutions with hone's own kernels.
void add_direct_convolution_tactics(TacticList& list, Gpu& gpu);
/// Conv and FusedConv in fp32 with minimal filtering.
void add_winograd_tactics(TacticList& list, Gpu& gpu, Cublaslt& cublaslt);
/// conv_sum regions with hone's own kernels.
void add_sum_convolution_tactics(TacticList& list, Gpu& gpu);
/// conv_global_pool regions with hone's own kernel.
void add_global_pooled_convolution_tactics(TacticList& list, Gpu& gpu);
/// conv_max_pool and conv_global_pool regions with the list's tactics for convolutions, each followed by a
/// pool.
void add_pooled_convolution_tactics(TacticList& list);
/// Gemm, MatMul, 1 x 1 Conv, and their fused forms through cuBLASLt.
void add_matrix_tactics(TacticList& list, Gpu& gpu, Cublaslt& cublaslt);
/// Products with a constant matrix with hone's own kernels.
void add_layer_tactics(TacticList& list, Gpu& gpu);
/// Products with few rows, and row_products regions.
void add_row_product_tactics(TacticList& list, Gpu& gpu);
/// Pools over windows and over whole images.
void add_pooling_tactics(TacticList& list);
/// bottleneck regions.
void add_bottleneck_tactics(TacticList& list, Gpu& gpu);
/// squeeze_excite regions.
void add_squeeze_excite_tactics(TacticList& list, Gpu& gpu);
/// attention regions.
void add_attention_tactics(TacticList& list, Gpu& gpu);
/// cached_attention regions.
void add_cached_attention_tactics(TacticList& list, Gpu& gpu);
/// Elementwise operators and chains.
void add_pointwise_tactics(TacticList& list, Gpu& gpu);
/// Softmax, normalizations of layers, groups and instances, and LRN.
void add_normalization_tactics(TacticList& list);
/// Concat, Transpose, Slice, Split, Expand, Tile, DepthToSpace and SpaceToDepth.
void add_movement_tactics(TacticList& list);
/// Gather, Pad and OneHot.
void add_indexing_tactics(TacticList& list);
/// GatherElements, GatherND, ScatterElements and ScatterND.
void add_scatter_tactics(TacticList& list);
/// TopK and CumSum.
void add_ranking_tactics(TacticList& list);
void add_recurrent_tactics(TacticList& list, Cublaslt& cublaslt);
/// GridSample and RoiAlign.
void add_sampling_tactics(TacticList& list);
/// Col2Im.
void add_columns_to_image_tactics(TacticList& list);
/// Matrix products that no other tactic takes.
void add_strided_product_tactics(TacticList& list);
/// Resize of images.
void add_resize_tactics(TacticList& list, Gpu& gpu);
/// Reductions, ArgMax and ArgMin.
void add_reduction_tactics(TacticList& list);

/// A kernel that states whether the previous kernel may let it start early, and what it leaves for the next
/// kernel.
class EarlyKernel : public engine::Kernel {
 public:
  /// True if it always launches a kernel, and if its first
  /// launch waits for the previous kernel with griddepcontrol.
  virtual bool waits() const = 0;
  /// LaunchOptions::behind_cluster of the next kernel.
  virtual bool leaves_room() const { return false; }
};

/// A kernel that consists of one call, which enqueues work and returns a status.
class LaunchKernel final : public EarlyKernel {
 public:
  using Launch =
      std::function<cudaError_t(std::span<const void* const> inputs, std::span<void* const> outputs,
                                void* scratch, const LaunchOptions& options)>;
  /// `what` names the kernel in errors.
  LaunchKernel(std::string what, Launch launch, bool waits = false, bool leaves_room = false)
      : what_(std::move(what)), launch_(std::move(launch)), waits_(waits), leaves_room_(leaves_room) {}
  void run(const engine::Run& run) const override;
  bool waits() const override { return waits_; }
  bool leaves_room() const override { return leaves_room_; }

 private:
  std::string what_;
  Launch launch_;
  bool waits_;
  bool leaves_room_;
};

/// A pool of images with this batch and number of channels.
PoolSize pool_size(int64_t batch, int64_t channels, const std::vector<graph::WindowAxis>& axes);
/// True if kernels can run these windows, whose positions they compute in 32 bits.
bool fits_in_int(const std::vector<graph::WindowAxis>& axes);

FloatType float_type(tensor::DType dtype);
/// True if kernels compute with elements of this type.
bool is_float_type(tensor::DType dtype);
ImageOrder image_order(engine::Layout layout);
/// The launch options for the kernels of one execution.
LaunchOptions launch_options(const engine::Run& run);

/// A copy of input 0 from the arrangement `from` to the arrangement `to`.
std::shared_ptr<const engine::Kernel> make_reorder_kernel(const engine::TensorDesc& from,
                                                          const engine::TensorDesc& to);

/// A copy of input 0, whose elements are `strides` apart, to a plain tensor; null if there are more
/// dimensions than kernels support.
std::shared_ptr<const engine::Kernel> make_strided_copy_kernel(tensor::DType dtype,
                                                               const engine::Shape& shape,
                                                               const engine::Shape& strides);

/// One post-op of a fused node, with the arrangement of its operand.
struct PostOpRequest {
  graph::PostOp op;
  float alpha = 0;
  float beta = 0;
  /// Index of the node's input, for binary post-ops.
  size_t operand = 0;
  OperandShape shape = OperandShape::kFull;  ///< shape of a binary post-op's operand
};

/// The axis of a result's channels.
enum class ChannelAxis : uint8_t {
  kSecond,  ///< for images
  kLast     ///< for matrices and stacks of them; the columns are the channels
};

/// The post-ops of a fused node (none for a plain one), whose extra inputs start at `first_extra`; nullopt if
/// an operand is broadcast in another way than those above.
std::optional<std::vector<PostOpRequest>> read_post_ops(const engine::StepRequest& request,
                                                        size_t first_extra,
                                                        ChannelAxis axis = ChannelAxis::kSecond);

struct PackedConstant {
  std::shared_ptr<const DeviceBytes> device;
  engine::WeightKey key;
};

/// Order of a packed filter's dimensions: [K][R][S][C] or, for depthwise and direct kernels, [R][S][C][K].
/// kKrscTf32 is the first order with floats rounded to the 11 bits that tensor cores use.
enum class FilterOrder : uint8_t { kKrsc, kKrscTf32, kRsck };

/// The constant filter (K, C, spatial...) in this element type and order, padded with zeros to `channels` for
/// C and to `filters` for K (0 for no padding). It is taken from the store, or packed and added to it.
/// Environment error if the store has only another form.
PackedConstant pack_filter(Gpu& gpu, const engine::StepRequest& request, size_t operand, tensor::DType dtype,
                           FilterOrder order, int64_t channels, engine::WeightStore& weights,
                           int64_t filters = 0);
/// The position of a weight: `place(filter, tap, channel)`.
using FragmentPlace = std::function<size_t(int64_t, int64_t, int64_t)>;
/// The constant filter with each weight at the position that `place` returns, in the order in which wgmma
/// takes left matrices. `order` is the name of this order.
PackedConstant pack_fragments(Gpu& gpu, const engine::StepRequest& request, size_t operand,
                              tensor::DType dtype, const char* order, const FragmentPlace& place,
                              engine::WeightStore& weights);
/// The constant bias as floats, padded with zeros to `count`.
PackedConstant pack_bias(Gpu& gpu, const engine::StepRequest& request, size_t operand, int64_t count,
                         engine::WeightStore& weights);
/// The constant filter of a stem in this layout and order.
PackedConstant pack_stem(Gpu& gpu, const engine::StepRequest& request, size_t operand, tensor::DType dtype,
                         const StemLayout& layout, StemOrder order, engine::WeightStore& weights);
/// The constant float filter, transformed by winograd_filter().
PackedConstant pack_winograd(Gpu& gpu, const engine::StepRequest& request, size_t operand,
                             const Winograd& size, engine::WeightStore& weights);
/// The constant matrix as rows of `depth`, one for each column of the product. The graph holds it in this
/// form if `transposed`, otherwise as (depth, columns).
PackedConstant pack_matrix(Gpu& gpu, const engine::StepRequest& request, size_t operand, tensor::DType dtype,
                           bool transposed, engine::WeightStore& weights);

}  // namespace hone::device::cuda
