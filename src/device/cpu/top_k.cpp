// TopK along any axis: each row is copied together with its indices and ordered as far as is wanted.
#include <algorithm>
#include <span>

#include "device/cpu/around_axis.hpp"
#include "device/cpu/ranges.hpp"
#include "device/cpu/tactics.hpp"

namespace hone::device::cpu {
namespace {

using engine::Layout;
using engine::Offer;
using engine::Shape;
using engine::StepRequest;
using tensor::DType;

constexpr int64_t kWorthThreads = 1 << 13;

template <class T>
class TopKKernel final : public engine::Kernel {
 public:
  TopKKernel(const Shape& shape, int64_t axis, int64_t k, bool largest)
      : around_(shape, axis), k_(k), largest_(largest), threads_(omp_get_max_threads()) {}

  /// A line for each thread.
  int64_t scratch_bytes() const { return threads_ * around_.length * int64_t{sizeof(Item)}; }

  void run(const engine::Run& run) const override {
    const auto* x = static_cast<const T*>(run.inputs[0]);
    auto* values = static_cast<T*>(run.outputs[0]);
    auto* indices = static_cast<int64_t*>(run.outputs[1]);
    const bool parallel = around_.lines() * around_.length > kWorthThreads;
    in_shares(around_.lines(), threads_, parallel, [&](int64_t begin, int64_t end, int64_t thread) {
      const std::span row(static_cast<Item*>(run.scratch) + thread * around_.length,
                          static_cast<size_t>(around_.length));
      for (int64_t i = begin; i < end; ++i) {
        const int64_t outer = i / around_.inner;
        const int64_t inner = i % around_.inner;
        const T* from = x + around_.first_of(i);
        for (int64_t j = 0; j < around_.length; ++j)
          row[static_cast<size_t>(j)] = {from[j * around_.inner], j};
        order(row);
        for (int64_t j = 0; j < k_; ++j) {
          const int64_t at = (outer * k_ + j) * around_.inner + inner;
          if (values != nullptr) values[at] = row[static_cast<size_t>(j)].value;
          if (indices != nullptr) indices[at] = row[static_cast<size_t>(j)].index;
        }
      }
    });
  }

 private:
  struct Item {
    T value;
    int64_t index;
  };

  /// Among equal elements the one with the lower index comes first; NaN is larger than every number.
  void order(std::span<Item> row) const {
    const auto before = [this](const Item& a, const Item& b) {
      const bool less = a.value < b.value || (a.value == a.value && b.value != b.value);
      const bool greater = b.value < a.value || (b.value == b.value && a.value != a.value);
      if (less != greater) return largest_ ? greater : less;
      return a.index < b.index;
    };
    const auto end = row.begin() + k_;
    if (k_ < around_.length) std::nth_element(row.begin(), end, row.end(), before);
    std::sort(row.begin(), end, before);
  }

  AroundAxis around_;
  int64_t k_;
  bool largest_;
  int64_t threads_;
};

/// The kernel reads elements of type T.
template <class T>
void take_kernel(Offer& offer, const Shape& shape, int64_t axis, int64_t k, bool largest) {
  auto kernel = std::make_shared<TopKKernel<T>>(shape, axis, k, largest);
  offer.scratch_bytes = kernel->scratch_bytes();
  offer.kernel = std::move(kernel);
}

Offer offer_top_k(const StepRequest& request, engine::WeightStore&) {
  const tensor::Tensor* wanted = request.graph.constant(request.node.inputs[1]);
  if (wanted == nullptr || wanted->size() != 1) return Offer::refuse("k is computed");
  const Shape& shape = request.inputs[0].shape;
  if (shape.empty()) return Offer::refuse("a scalar");
  const int64_t axis =
      tensor::normalize_axis(request.node.attributes.get_int("axis"), static_cast<int64_t>(shape.size()));
  const int64_t k = wanted->to_int64()[0];
  if (k < 0 || k > shape[static_cast<size_t>(axis)]) return Offer::refuse("k is beyond the axis");
  const DType dtype = request.graph.value(request.node.inputs[0]).type.dtype;
  const bool largest = request.node.attributes.get_int("largest") != 0;
  Offer offer;
  offer.inputs = {{dtype, shape, Layout::kPlain}, {}};
  offer.outputs = request.outputs;
  switch (dtype) {
    case DType::kFloat32: take_kernel<float>(offer, shape, axis, k, largest); break;
    case DType::kInt32: take_kernel<int32_t>(offer, shape, axis, k, largest); break;
    case DType::kInt64: take_kernel<int64_t>(offer, shape, axis, k, largest); break;
    default: return Offer::refuse(fmt::format("no loop over {}", tensor::dtype_name(dtype)));
  }
  return offer;
}

}  // namespace

void add_top_k_tactics(TacticList& list) {
  list.push_back({.name = "top_k", .operators = {"TopK"}, .make = offer_top_k});
}

}  // namespace hone::device::cpu
