// The table of the CUDA device: each file of this folder with tactics adds its rows; and what they share.
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

// Rows keep the references that they are made with; their targets outlive them.

/// Conv and FusedConv of images, also with the max pool and the convolution after them (regions conv_max_pool
/// and stem), by kernels of ours.
void add_stem_tactics(TacticList& list, Gpu& gpu);
/// Conv and FusedConv by implicit GEMM kernels of ours.
void add_gemm_tactics(TacticList& list, Gpu& gpu);
/// Convolutions of 3 x 3 with filters in registers.
void add_stationary_convolution_tactics(TacticList& list, Gpu& gpu);
/// Conv and FusedConv through cuDNN.
void add_cudnn_tactics(TacticList& list, Gpu& gpu, CudnnCompiler& cudnn);
/// ConvTranspose.
void add_transposed_convolution_tactics(TacticList& list);
/// Depthwise, grouped and IEEE float convolutions by kernels of ours.
void add_direct_convolution_tactics(TacticList& list, Gpu& gpu);
/// Conv and FusedConv in fp32 by minimal filtering.
void add_winograd_tactics(TacticList& list, Gpu& gpu, Cublaslt& cublaslt);
/// Regions conv_sum by kernels of ours.
void add_sum_convolution_tactics(TacticList& list, Gpu& gpu);
/// Regions conv_global_pool by a kernel of ours.
void add_global_pooled_convolution_tactics(TacticList& list, Gpu& gpu);
/// Regions conv_max_pool and conv_global_pool by the tactics of the list for convolutions, each followed by a
/// pool.
void add_pooled_convolution_tactics(TacticList& list);
/// Gemm, MatMul, Conv by filters of one pixel, and their fused forms through cuBLASLt.
void add_matrix_tactics(TacticList& list, Gpu& gpu, Cublaslt& cublaslt);
/// Products with a constant matrix by kernels of ours.
void add_layer_tactics(TacticList& list, Gpu& gpu);
/// Products of few rows, and regions row_products.
void add_row_product_tactics(TacticList& list, Gpu& gpu);
/// Pools over windows and over whole images.
void add_pooling_tactics(TacticList& list);
/// Regions bottleneck.
void add_bottleneck_tactics(TacticList& list, Gpu& gpu);
/// Regions squeeze_excite.
void add_squeeze_excite_tactics(TacticList& list, Gpu& gpu);
/// Regions attention.
void add_attention_tactics(TacticList& list, Gpu& gpu);
/// Regions cached_attention.
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
/// Reductions, and the places of extremes.
void add_reduction_tactics(TacticList& list);

/// A kernel of which one knows whether the step before it may let it in early, and what it leaves the next.
class EarlyKernel : public engine::Kernel {
 public:
  /// True if it always launches something, and its first launch waits for the previous kernel by
  /// griddepcontrol.
  virtual bool waits() const = 0;
  /// LaunchOptions::behind_cluster of the next.
  virtual bool leaves_room() const { return false; }
};

/// A kernel that is one call which enqueues work and says how that went.
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

/// A pool of an image of that batch and these channels.
PoolSize pool_size(int64_t batch, int64_t channels, const std::vector<graph::WindowAxis>& axes);
/// True if kernels, which compute windows in 32 bits, can run these.
bool fits_in_int(const std::vector<graph::WindowAxis>& axes);

FloatType float_type(tensor::DType dtype);
/// True if kernels compute with elements of this type.
bool is_float_type(tensor::DType dtype);
ImageOrder image_order(engine::Layout layout);
/// How the kernels of one execution are launched.
LaunchOptions launch_options(const engine::Run& run);

/// A copy of input 0, arranged as `from`, arranged as `to`.
std::shared_ptr<const engine::Kernel> make_reorder_kernel(const engine::TensorDesc& from,
                                                          const engine::TensorDesc& to);

/// A copy of input 0, whose elements lie `strides` apart, to a plain one; null for more dimensions than
/// kernels walk.
std::shared_ptr<const engine::Kernel> make_strided_copy_kernel(tensor::DType dtype,
                                                               const engine::Shape& shape,
                                                               const engine::Shape& strides);

/// One post-op of a fused node, with the arrangement its operand must have.
struct PostOpRequest {
  graph::PostOp op;
  float alpha = 0;
  float beta = 0;
  /// Input of the node, for binary post-ops.
  size_t operand = 0;
  OperandShape shape = OperandShape::kFull;  ///< of a binary post-op's operand
};

/// The axis of a result's channels.
enum class ChannelAxis : uint8_t {
  kSecond,  ///< of images
  kLast     ///< of matrices and stacks of them, whose columns they are
};

/// The post-ops of a fused node (none for a plain one) whose extra inputs start at `first_extra`; nullopt
/// when an operand is broadcast in another way than above.
std::optional<std::vector<PostOpRequest>> read_post_ops(const engine::StepRequest& request,
                                                        size_t first_extra,
                                                        ChannelAxis axis = ChannelAxis::kSecond);

struct PackedConstant {
  std::shared_ptr<const DeviceBytes> device;
  engine::WeightKey key;
};

/// Order of a packed filter's dimensions: [K][R][S][C] or, for depthwise and direct kernels, [R][S][C][K].
/// kKrscTf32 is the first with floats rounded to the 11 bits that tensor cores take of them.
enum class FilterOrder : uint8_t { kKrsc, kKrscTf32, kRsck };

/// The constant filter (K, C, spatial...) in the element type and order asked for, with C padded by zeros to
/// `channels` and K to `filters`, of which 0 stands for K; from the store or packed into it now. Environment
/// error when only another form is stored.
PackedConstant pack_filter(Gpu& gpu, const engine::StepRequest& request, size_t operand, tensor::DType dtype,
                           FilterOrder order, int64_t channels, engine::WeightStore& weights,
                           int64_t filters = 0);
/// The place of a weight: `place(filter, tap, channel)`.
using FragmentPlace = std::function<size_t(int64_t, int64_t, int64_t)>;
/// The constant filter, each weight where `place` says: as wgmma takes left matrices. `order` names that of
/// all its weights.
PackedConstant pack_fragments(Gpu& gpu, const engine::StepRequest& request, size_t operand,
                              tensor::DType dtype, const char* order, const FragmentPlace& place,
                              engine::WeightStore& weights);
/// The constant bias as floats, padded by zeros to `count`.
PackedConstant pack_bias(Gpu& gpu, const engine::StepRequest& request, size_t operand, int64_t count,
                         engine::WeightStore& weights);
/// The constant filter of a stem, as its layout says, in that order.
PackedConstant pack_stem(Gpu& gpu, const engine::StepRequest& request, size_t operand, tensor::DType dtype,
                         const StemLayout& layout, StemOrder order, engine::WeightStore& weights);
/// The constant filter, of floats, as winograd_filter() makes it.
PackedConstant pack_winograd(Gpu& gpu, const engine::StepRequest& request, size_t operand,
                             const Winograd& size, engine::WeightStore& weights);
/// The constant matrix as rows of `depth`, one per column of the product; the graph holds it so when
/// `transposed`, and as (depth, columns) otherwise.
PackedConstant pack_matrix(Gpu& gpu, const engine::StepRequest& request, size_t operand, tensor::DType dtype,
                           bool transposed, engine::WeightStore& weights);

}  // namespace hone::device::cuda
