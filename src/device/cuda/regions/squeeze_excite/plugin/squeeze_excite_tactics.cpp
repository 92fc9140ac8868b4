// Regions squeeze_excite by a kernel of ours.
#include "device/cuda/regions/squeeze_excite/plugin/kernels/squeeze_excite.hpp"

#include <algorithm>

#include "device/cuda/plugin/tactics/region_parts.hpp"
#include "device/cuda/plugin/tactics/tactics.hpp"
#include "engine/requirements.hpp"

namespace hone::device::cuda {
namespace {

using engine::Layout;
using engine::Offer;
using engine::StepRequest;
using engine::TensorDesc;
using tensor::DType;

/// The first of them has every device room for.
constexpr int kMostBlocks[] = {8, 16, 4, 2};

/// Empty when `out` is filled in; else why the part cannot run so.
Refusal read_activation(const graph::Node& node, UnaryStep& out) {
  const auto names = node.attributes.get_or<std::vector<std::string>>("post_ops", {});
  if (names.empty()) return {};
  out.op = *graph::find_post_op(names[0]);
  if (names.size() > 1 || graph::is_binary(out.op))
    return fmt::format("'{}' has more than one activation", node.name);
  out.alpha = node.attributes.get<std::vector<float>>("post_alphas")[0];
  out.beta = node.attributes.get<std::vector<float>>("post_betas")[0];
  return {};
}

/// Reads one of the convolutions. Empty when `out`, its activation, is filled in.
Refusal read_convolution(const RegionPart& part, UnaryStep& out) {
  // They are read before the kernel ahead has ended.
  for (const size_t i : {1, 2}) {
    if (part.node.has_input(i) && !part.is_constant(i))
      return fmt::format("operand {} of '{}' is not constant", i, part.node.name);
  }
  if (Refusal reason = same_size_refusal(part, 1)) return reason;
  return read_activation(part.node, out);
}

/// Which operand of the product is the gate; nullopt for a body of another form.
std::optional<size_t> gate_operand(const RegionParts& parts) {
  for (const size_t gate : {0, 1}) {
    if (parts.form() == fmt::format("pool=GlobalAveragePool squeeze=Conv(0:pool) gate=Conv(0:squeeze) "
                                    "product=Mul({}:gate) -> product",
                                    gate))
      return gate;
  }
  return std::nullopt;
}

Refusal read_size(const RegionParts& parts, const DeviceProperties& device, SqueezeExcite& size) {
  const std::optional<size_t> gate = gate_operand(parts);
  if (!gate || parts.part("product").operands.position(1 - *gate) != parts.part("pool").operands.position(0))
    return "its body is no squeeze and excitation";
  const engine::Shape& shape = parts.part("pool").request.inputs[0].shape;
  if (shape.size() != 4) return "only 2-D images";
  const auto& filters = parts.part("squeeze").request.inputs[1].shape;
  for (const auto& [role, step] : {std::pair("squeeze", &size.squeeze), std::pair("gate", &size.gate)}) {
    if (Refusal reason = read_convolution(parts.part(role), *step)) return reason;
  }
  size.batch = shape[0];
  size.channels = shape[1];
  size.pixels = shape[2] * shape[3];
  size.hidden = filters[0];
  if (parts.part("gate").request.inputs[1].shape[0] != size.channels)
    return fmt::format("not {} gates", size.channels);
  return squeeze_excite_refusal(size, device);
}

/// Larger clusters want that many multiprocessors side by side, with shared memory for each block.
Refusal room_refusal(const DeviceProperties& device, const SqueezeExcite& size, int most_blocks) {
  const SqueezeExcitePlan plan = squeeze_excite_plan(size, most_blocks, device);
  if (plan.blocks() <= kMostBlocks[0] || device.clusters_at_once(plan.blocks()) > 0) return {};
  return fmt::format("the device has no room for a cluster of {} such blocks", plan.blocks());
}

/// The step, with images that other steps have left where no 16 bytes begin copied to where they do: single
/// pixels, which may lie anywhere in a concatenation.
class SqueezeExciteStep {
 public:
  SqueezeExciteStep(const StepRequest& request, const DeviceProperties& device, const SqueezeExcite& size,
                    int most_blocks, const RegionParts& parts, PackedConstant w1, PackedConstant w2)
      : type_(float_type(request.storage())),
        size_(size),
        plan_(squeeze_excite_plan(size, most_blocks, device)),
        bytes_(static_cast<size_t>(size.batch * size.channels * size.pixels) * float_bytes(type_)),
        image_(parts.part("pool").operands),
        squeeze_(parts.part("squeeze").operands),
        gate_(parts.part("gate").operands),
        w1_(std::move(w1)),
        w2_(std::move(w2)) {}

  /// Scratch for the image, and for the result after it.
  int64_t scratch_bytes() const { return size_.pixels == 1 ? 2 * aligned_bytes() : 0; }

  cudaError_t operator()(std::span<const void* const> inputs, std::span<void* const> outputs, void* scratch,
                         LaunchOptions options) const {
    const auto bias = [&](const PartOperands& operands) {
      return static_cast<const float*>(operands.of(inputs, 2));
    };
    const void* const image = image_.of(inputs, 0);
    SqueezeExciteArgs args{image,          w1_.device->data(), w2_.device->data(),
                           bias(squeeze_), bias(gate_),        outputs[0]};
    if (!is_aligned(args.x)) {
      if (const cudaError_t status = copy(image, scratch, options); status != cudaSuccess) return status;
      args.x = scratch;
    }
    if (is_aligned(args.y)) return squeeze_excite(args, type_, size_, plan_, options);
    args.y = static_cast<std::byte*>(scratch) + aligned_bytes();
    options.next_waits = false;  // a copy comes next
    const cudaError_t status = squeeze_excite(args, type_, size_, plan_, options);
    return status == cudaSuccess ? copy(args.y, outputs[0], options) : status;
  }

 private:
  static constexpr uintptr_t kAlignment = 16;

  static bool is_aligned(const void* pointer) {
    return reinterpret_cast<uintptr_t>(pointer) % kAlignment == 0;
  }
  int64_t aligned_bytes() const {
    return static_cast<int64_t>((bytes_ + kAlignment - 1) / kAlignment * kAlignment);
  }
  cudaError_t copy(const void* from, void* to, const LaunchOptions& options) const {
    return cudaMemcpyAsync(to, from, bytes_, cudaMemcpyDeviceToDevice, options.stream);
  }

  FloatType type_;
  SqueezeExcite size_;
  SqueezeExcitePlan plan_;
  size_t bytes_;
  PartOperands image_;
  PartOperands squeeze_;
  PartOperands gate_;
  PackedConstant w1_;
  PackedConstant w2_;
};

/// A variant is the number of blocks that share an image, at most: the first of them runs every shape, so
/// that an engine, which is built for one, has something that runs the others on the device.
std::vector<std::string> variants(const Gpu& gpu, const StepRequest& request) {
  SqueezeExcite size;
  std::vector<std::string> result;
  if (read_size(RegionParts(request), gpu.properties(), size)) return result;
  std::vector<int> seen;
  for (const int most : kMostBlocks) {
    const int blocks = squeeze_excite_plan(size, most, gpu.properties()).blocks();
    if (std::find(seen.begin(), seen.end(), blocks) != seen.end()) continue;
    if (room_refusal(gpu.properties(), size, most)) continue;
    seen.push_back(blocks);
    result.push_back(std::to_string(most));
  }
  return result;
}

Offer offer_variant(Gpu& gpu, const StepRequest& request, engine::WeightStore& weights,
                    std::string_view variant) {
  const RegionParts parts(request);
  SqueezeExcite size;
  if (Refusal reason = read_size(parts, gpu.properties(), size)) return Offer::refuse(std::move(reason));
  const auto* const most = std::find_if(std::begin(kMostBlocks), std::end(kMostBlocks),
                                        [&](int blocks) { return variant == std::to_string(blocks); });
  if (most == std::end(kMostBlocks))
    return Offer::refuse(fmt::format("'{}' is no number of blocks", variant));
  if (Refusal reason = room_refusal(gpu.properties(), size, *most)) return Offer::refuse(std::move(reason));
  const DType dtype = request.storage();
  const RegionPart& squeeze = parts.part("squeeze");
  const RegionPart& gate = parts.part("gate");
  PackedConstant w1 = pack_filter(gpu, squeeze.request, 1, dtype, FilterOrder::kKrsc, size.channels, weights);
  PackedConstant w2 =
      pack_filter(gpu, gate.request, 1, dtype, FilterOrder::kKrsc, size.hidden_pitch(), weights);
  Offer offer;
  offer.inputs.resize(request.inputs.size());
  offer.in_place_input = parts.part("pool").operands.position(0);
  TensorDesc& image = offer.inputs[static_cast<size_t>(offer.in_place_input)];
  image = {dtype, request.outputs[0].shape, Layout::kChannelsLast};
  offer.outputs = {image};
  for (const RegionPart* part : {&squeeze, &gate}) {
    std::vector<TensorDesc> wanted(3);
    if (part->node.has_input(2)) wanted[2] = {DType::kFloat32, part->request.inputs[2].shape, Layout::kPlain};
    if (Refusal reason = part->operands.arrange(wanted, offer.inputs))
      return Offer::refuse(std::move(reason));
  }
  offer.packed = {w1.key, w2.key};
  const SqueezeExciteStep step(request, gpu.properties(), size, *most, parts, std::move(w1), std::move(w2));
  offer.scratch_bytes = step.scratch_bytes();
  offer.kernel = std::make_shared<LaunchKernel>("squeeze and excitation", step, size.batch != 0);
  return offer;
}

}  // namespace

void add_squeeze_excite_tactics(TacticList& list, Gpu& gpu) {
  list.push_back({.name = "squeeze_excite",
                  .operators = {"Region:squeeze_excite"},
                  .requirements = {engine::only_float32, engine::only_fp16_and_bf16},
                  .starts_early = true,
                  .make =
                      [&gpu](const StepRequest& request, engine::WeightStore& weights) {
                        return offer_variant(gpu, request, weights, std::to_string(kMostBlocks[0]));
                      },
                  .list_variants = std::bind_front(variants, std::cref(gpu)),
                  .make_variant = std::bind_front(offer_variant, std::ref(gpu))});
}

}  // namespace hone::device::cuda
