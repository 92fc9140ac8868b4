// Attention (graph/attention.hpp): a block of rows of one head after the other, so that its scores stay in
// the cache. oneDNN multiplies; operands are read and results written where they lie.
#include <omp.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>

#include "device/cpu/attention_operands.hpp"
#include "device/cpu/chain_math.hpp"
#include "device/cpu/onednn.hpp"
#include "device/cpu/tactics.hpp"
#include "engine/requirements.hpp"

namespace hone::device::cpu {
namespace {

using dnnl::memory;
using engine::Offer;
using engine::StepRequest;
using tensor::DType;

/// Scores of one block: a quarter MB of a second-level cache.
constexpr int64_t kBlockScores = int64_t{64} * 1024;
constexpr int64_t kLeastRows = 16;
constexpr int64_t kMostRows = 256;

/// True if oneDNN multiplies them without a copy.
bool are_dense(const Matrices& m) {
  if (m.columns == 1 || m.column_stride == 1) return m.rows == 1 || m.row_stride >= m.columns;
  return (m.rows == 1 || m.row_stride == 1) && m.column_stride >= m.rows;
}

/// Describes the first `count` rows. A dimension of 1 may have any stride here, and a dense one there.
memory::desc desc_of(const Matrices& m, DType dtype, int64_t count) {
  const int64_t across = m.columns == 1 ? 1 : m.column_stride;
  const int64_t down = count == 1 ? (across == 1 ? m.columns : 1) : m.row_stride;
  return {{count, m.columns}, onednn_type(dtype), memory::dims{down, across}};
}

/// A product of matrices that lie as described.
OnednnKernel make_product(const memory::desc& a, const memory::desc& b, const memory::desc& c,
                          int64_t& scratch_bytes) {
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
#if DNNL_VERSION_MAJOR >= 3
  const dnnl::matmul::primitive_desc pd(onednn_engine(), a, b, c, attributes);
#else
  const dnnl::matmul::primitive_desc pd({a, b, c}, attributes, onednn_engine());
#endif
  OnednnKernel kernel{dnnl::matmul(pd)};
  kernel.bind_input(0, DNNL_ARG_SRC, a);
  kernel.bind_input(1, DNNL_ARG_WEIGHTS, b);
  kernel.bind_output(0, DNNL_ARG_DST, c);
  kernel.bind_scratch(pd.scratchpad_desc());
  scratch_bytes = std::max(scratch_bytes, static_cast<int64_t>(pd.scratchpad_desc().get_size()));
  return kernel;
}

int64_t aligned(int64_t bytes) { return (bytes + 63) / 64 * 64; }

class AttentionKernel final : public engine::Kernel {
 public:
  explicit AttentionKernel(AttentionOperands operands)
      : o_(std::move(operands)), threads_(omp_get_max_threads()) {
    block_ = std::clamp(kBlockScores / o_.k.columns, kLeastRows, kMostRows);
    // The blocks shrink until there are enough to keep all threads busy.
    while (block_ > kLeastRows && o_.heads() * blocks() < 2 * threads_) block_ /= 2;
    block_ = std::min(block_, o_.q.rows);
    const Matrices scores{0, block_, o_.k.columns, {}, o_.k.columns, 1};
    for (const int64_t rows : {block_, o_.q.rows % block_}) {
      if (rows == 0) continue;
      products_.push_back(make_product(desc_of(o_.q, o_.storage, rows), desc_of(o_.k, o_.storage, o_.k.rows),
                                       desc_of(scores, DType::kFloat32, rows), pad_bytes_));
      products_.push_back(make_product(desc_of(scores, o_.storage, rows),
                                       desc_of(o_.v, o_.storage, o_.v.rows),
                                       desc_of(o_.result, o_.storage, rows), pad_bytes_));
    }
    pad_bytes_ = aligned(pad_bytes_);
    scores_bytes_ = aligned(block_ * o_.k.columns * int64_t{sizeof(float)});
    weights_bytes_ = o_.storage == DType::kFloat32 ? 0 : scores_bytes_ / 2;
  }

  int64_t scratch_bytes() const { return threads_ * thread_bytes(); }

  void run(const engine::Run& run) const override {
    const std::unique_ptr<engine::KernelState> own = run.state == nullptr ? make_state() : nullptr;
    auto& state = static_cast<State&>(own == nullptr ? *run.state : *own);
    const int64_t tasks = o_.heads() * blocks();
    const int threads = static_cast<int>(std::min<int64_t>({threads_, omp_get_max_threads(), tasks}));
    std::atomic<int64_t> next = 0;
#pragma omp parallel num_threads(threads) if (threads > 1)
    {
      const int thread = omp_get_thread_num();
      std::byte* const scratch = static_cast<std::byte*>(run.scratch) + thread * thread_bytes();
      const States& states = state.threads[static_cast<size_t>(thread)];
      for (int64_t task = next.fetch_add(1); task < tasks; task = next.fetch_add(1))
        run_block(run, static_cast<size_t>(task / blocks()), task % blocks() * block_, scratch, states);
    }
  }

  std::unique_ptr<engine::KernelState> make_state() const override {
    auto state = std::make_unique<State>();
    state->threads.resize(static_cast<size_t>(threads_));
    for (States& states : state->threads) {
      for (const OnednnKernel& product : products_) states.push_back(product.make_state());
    }
    return state;
  }

 private:
  /// States of each product.
  using States = std::vector<std::unique_ptr<engine::KernelState>>;
  struct State final : engine::KernelState {
    std::vector<States> threads;
  };

  int64_t blocks() const { return (o_.q.rows + block_ - 1) / block_; }
  int64_t thread_bytes() const { return scores_bytes_ + weights_bytes_ + pad_bytes_; }

  /// Where the matrix of a head begins, from row `row` on.
  template <class Byte>
  Byte* at(Byte* base, const Matrices& matrices, size_t head, int64_t row) const {
    return base + (matrices.offsets[head] + row * matrices.row_stride) *
                      static_cast<int64_t>(tensor::dtype_size(o_.storage));
  }

  void multiply(size_t product, const void* a, const void* b, void* c, void* pad,
                const States& states) const {
    const std::array<const void*, 2> inputs = {a, b};
    products_[product].run(
        {.inputs = inputs, .outputs = {&c, 1}, .scratch = pad, .state = states[product].get()});
  }

  void run_block(const engine::Run& run, size_t head, int64_t first, std::byte* scratch,
                 const States& states) const {
    const auto input = [&](const Matrices& matrices, int64_t row) {
      return at(static_cast<const std::byte*>(run.inputs[matrices.operand]), matrices, head, row);
    };
    const int64_t rows = std::min(block_, o_.q.rows - first);
    const size_t product = rows == block_ ? 0 : 2;
    const auto keys = static_cast<size_t>(o_.k.columns);
    auto* const scores = reinterpret_cast<float*>(scratch);
    std::byte* const weights = o_.storage == DType::kFloat32 ? scratch : scratch + scores_bytes_;
    std::byte* const pad = scratch + scores_bytes_ + weights_bytes_;
    multiply(product, input(o_.q, first), input(o_.k, 0), scores, pad, states);
    for (int64_t row = 0; row < rows; ++row) {
      float* const x = scores + row * o_.k.columns;
      o_.weigh(run.inputs, head, first + row, x);
      if (o_.storage != DType::kFloat32)
        narrow(x, reinterpret_cast<tensor::BFloat16*>(weights) + row * o_.k.columns, keys);
    }
    multiply(product + 1, weights, input(o_.v, 0),
             at(static_cast<std::byte*>(run.outputs[0]), o_.result, head, first), pad, states);
  }

  AttentionOperands o_;
  int64_t threads_;
  int64_t block_ = 1;
  /// Products for whole blocks and, where there is one, for the last: the scores, then the result.
  std::vector<OnednnKernel> products_;
  int64_t scores_bytes_ = 0;
  int64_t weights_bytes_ = 0;
  int64_t pad_bytes_ = 0;
};

Offer make_attention(const StepRequest& request) {
  Offer offer;
  AttentionOperands operands;
  if (Refusal reason = arrange_attention(request, offer, operands)) return Offer::refuse(std::move(reason));
  for (const Matrices* matrices : {&operands.q, &operands.k, &operands.v}) {
    if (!are_dense(*matrices)) return Offer::refuse("neither rows nor columns of an operand are contiguous");
  }
  auto kernel = std::make_shared<AttentionKernel>(std::move(operands));
  offer.scratch_bytes = kernel->scratch_bytes();
  offer.kernel = std::move(kernel);
  return offer;
}

Offer offer_attention(const StepRequest& request, engine::WeightStore&) {
  return guard_onednn([&] { return make_attention(request); });
}

}  // namespace

void add_attention_tactics(TacticList& list) {
  list.push_back({.name = "blocked_attention",
                  .operators = {"Region:" + std::string(graph::kAttention)},
                  .requirements = {engine::only_float32, engine::nonempty_output},
                  .make = offer_attention});
}

}  // namespace hone::device::cpu
