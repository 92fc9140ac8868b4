// How the post-ops of a fused node are shared out: those that oneDNN takes run inside the primitive, the rest
// as an elementwise chain on its output.
#pragma once

#include <vector>

#include "device/cpu/chain_math.hpp"
#include "device/cpu/elementwise_program.hpp"
#include "engine/kernel.hpp"

namespace hone::device::cpu {

/// 0 for a node that is not fused.
size_t post_op_count(const engine::StepRequest& request);

/// Returns true if the first of a convolution's or product's post-ops adds a tensor of the result's shape
/// that is not constant: its sums can begin there.
bool begins_with_sum(const engine::StepRequest& request);

/// The post-ops from `first` on that have no second operand, up to the next that has: a kernel of ours
/// applies them to its sums while these are in the cache.
std::vector<ChainLink> unary_post_ops(const engine::StepRequest& request, size_t first);
/// True if one of them is a smooth function, which oneDNN computes at half of our speed.
bool any_is_smooth(const std::vector<ChainLink>& links);
/// Applies them to `n` elements next to each other.
void apply_links(const std::vector<ChainLink>& links, float* x, int64_t n,
                 LinkError error = LinkError::kOfFloat);

/// Adds the post-ops from `done` on to an offer whose kernel and output 0 are set, as a chain that runs in
/// place on that output; operands of the node's own shapes. False when no chain can run them.
bool append_rest(const engine::StepRequest& request, size_t done, engine::Offer& offer);

/// The offer of a product with a packed constant by a kernel of ours, which reads input 0 as `input` and does
/// the first `inside` post-ops itself: a sum that the product begins with (begins_with_sum) is in its
/// result's place. The rest follows as a chain.
engine::Offer finish_tiled_offer(const engine::StepRequest& request, const engine::TensorDesc& input,
                                 const engine::TensorDesc& output, const engine::WeightKey& packed,
                                 size_t inside, std::shared_ptr<const engine::Kernel> kernel,
                                 int64_t scratch_bytes);

/// The offer with the most post-ops inside the primitive; `make(inside, allow_sum)` offers with the first
/// `inside` of the node's. Sum in place comes first, then the residual as a binary operand, then ever fewer.
/// When all refuse, the refusal is that of the attempt with all post-ops.
template <class Make>
engine::Offer offer_with_post_ops(const engine::StepRequest& request, Make&& make) {
  const size_t all = post_op_count(request);
  engine::Offer whole = make(all, true);
  if (!whole.refusal || all == 0) return whole;
  whole = make(all, false);
  if (!whole.refusal) return whole;
  for (size_t inside = all; inside-- > 0;) {
    engine::Offer partial = make(inside, false);
    if (!partial.refusal) return partial;
  }
  return whole;
}

}  // namespace hone::device::cpu
