// The stages of a quantized chain (graph/quantized_chain.hpp) as loops over short runs of floats, where
// oneDNN has no primitive.
#pragma once

#include <span>
#include <vector>

#include "device/cpu/elementwise_program.hpp"
#include "device/cpu/quantized/operands.hpp"

namespace hone::device::cpu {

/// Writes the numbers that n bytes from `position` on stand for to x.
void read_bytes(const void* bytes, const ByteScale& from, float* x, int64_t position, size_t n);

/// The stages for one result, whose elements lie as described: plain, or channels-last.
class StageProgram {
 public:
  /// Says in the offer how second operands have to lie. A refusal where an operand or a rounding is of no
  /// kind that it takes.
  static Refusal make(const engine::StepRequest& request, const graph::QuantizedChain& chain,
                      const engine::TensorDesc& result, engine::Offer& offer, StageProgram& program);

  /// x holds n numbers, kRun (chain_math.hpp) at most, those of the elements from `position` on in the order
  /// of memory; they are changed, and written to `output`, where the result's element 0 lies.
  void run(float* x, int64_t position, size_t n, std::span<const void* const> inputs, void* output) const;

  /// True if every element of the result depends on its own number only, so that a table can hold it; the
  /// numbers are those of the bytes of input `own`, which may also be a second operand.
  bool is_function(size_t own) const;

 private:
  /// kChannelBytes: one byte for each channel, of each image or of all.
  enum class Operand : uint8_t { kNone, kBytes, kChannelBytes, kFloats, kChannels, kSingle };

  struct Stage {
    /// The link of a stage that does not round.
    ChainLink link{ChainOp::kRelu};
    bool rounds = false;
    Operand kind = Operand::kNone;
    /// The scale of rounded numbers, or of an operand of bytes.
    ByteScale scale;
    /// The constants of kChannels and kSingle.
    std::vector<float> values;
    /// True if each image has its own kChannelBytes.
    bool of_images = false;
  };

  static Refusal read_operand(const engine::StepRequest& request, const graph::QuantizedOperand& operand,
                              const engine::TensorDesc& result, engine::Offer& offer, Stage& stage);
  void apply(const Stage& stage, float* x, int64_t position, size_t n,
             std::span<const void* const> inputs) const;

  void read_channels(const Stage& stage, const void* bytes, int64_t position, size_t n, float* y) const;

  std::vector<Stage> stages_;
  tensor::DType type_ = tensor::DType::kFloat32;
  int64_t channels_ = 1;
  /// Elements of an image.
  int64_t image_ = 1;
};

}  // namespace hone::device::cpu
