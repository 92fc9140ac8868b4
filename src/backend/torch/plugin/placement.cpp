// See placement.hpp.
#include "backend/torch/plugin/placement.hpp"

#include <ATen/Context.h>
#include <ATen/Parallel.h>

namespace hone::backend::aten {

at::ScalarType Placement::scalar_type(at::ScalarType type) const {
  if (type != at::kFloat) return type;
  if (precision == Precision::kFp16) return at::kHalf;
  return precision == Precision::kBf16 ? at::kBFloat16 : at::kFloat;
}

at::Tensor Placement::place(const at::Tensor& tensor, bool pinned) const {
  const bool image = channels_last && tensor.dim() == 4;
  // The tensor is copied unchanged, and converted on its device.
  return tensor.to(device, /*non_blocking=*/pinned)
      .to(scalar_type(tensor.scalar_type()), /*non_blocking=*/false, /*copy=*/false,
          image ? at::MemoryFormat::ChannelsLast : at::MemoryFormat::Preserve);
}

std::string Placement::text() const {
  return fmt::format("{}{}", precision_name(precision), channels_last ? ", channels-last" : "");
}

void allow_tf32(bool allowed) {
  at::globalContext().setAllowTF32CuBLAS(allowed);
  at::globalContext().setAllowTF32CuDNN(allowed);
}

void use_settings(const Placement& placement, int threads) {
  // Operators run one after the other; PyTorch allows this setting only once in a process.
  static const bool kOnce = [] {
    at::set_num_interop_threads(1);
    return true;
  }();
  (void)kOnce;
  if (at::get_num_threads() != threads) at::set_num_threads(threads);
  if (placement.device.is_cpu()) return;
  allow_tf32(placement.precision == Precision::kTf32);
  at::globalContext().setBenchmarkCuDNN(true);
}

}  // namespace hone::backend::aten
