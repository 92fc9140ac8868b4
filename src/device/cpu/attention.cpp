// Attention (graph/attention.hpp): a block of rows of one head after the other, so that its scores stay in
// the cache. oneDNN multiplies; operands are read and results written where they lie.
#include "graph/attention.hpp"

#include <omp.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>

#include "device/cpu/chain_math.hpp"
#include "device/cpu/clones.hpp"
#include "device/cpu/onednn.hpp"
#include "device/cpu/reduction_math.hpp"
#include "device/cpu/tactics.hpp"
#include "engine/requirements.hpp"
#include "graph/region.hpp"

namespace hone::device::cpu {
namespace {

using dnnl::memory;
using engine::Layout;
using engine::Offer;
using engine::StepRequest;
using engine::TensorDesc;
using graph::Attention;
using graph::StridedView;
using tensor::DType;

/// Scores of one block: a quarter MB of a second-level cache.
constexpr int64_t kBlockScores = int64_t{64} * 1024;
constexpr int64_t kLeastRows = 16;
constexpr int64_t kMostRows = 256;

HONE_CLONES void add_row(float* __restrict x, const float* __restrict y, size_t n) {
  for (size_t i = 0; i < n; ++i) x[i] += y[i];
}

/// x[i] += y[i * stride].
void add_to_row(float* x, const float* y, int64_t stride, size_t n) {
  if (stride == 1) return add_row(x, y, n);
  if (stride == 0) return scale_row(x, 1, *y, x, n);
  for (size_t i = 0; i < n; ++i) x[i] += y[static_cast<int64_t>(i) * stride];
}

/// x[i] = fill where mask[i * stride] is `where`.
void fill_row(float* x, const bool* mask, int64_t stride, bool where, float fill, size_t n) {
  for (size_t i = 0; i < n; ++i) x[i] = mask[static_cast<int64_t>(i) * stride] == where ? fill : x[i];
}

/// Matrices in an operand, one for each index of the leading dimensions.
struct Matrices {
  size_t operand = 0;
  int64_t rows = 0;
  int64_t columns = 0;
  std::vector<int64_t> offsets;
  int64_t row_stride = 0;
  int64_t column_stride = 0;

  /// Whether oneDNN multiplies them without a copy.
  bool are_dense() const {
    if (columns == 1 || column_stride == 1) return rows == 1 || row_stride >= columns;
    return (rows == 1 || row_stride == 1) && column_stride >= rows;
  }
  /// Of the first `count` rows. A dimension of 1 may have any stride here, and a dense one there.
  memory::desc desc(DType dtype, int64_t count) const {
    const int64_t across = columns == 1 ? 1 : column_stride;
    const int64_t down = count == 1 ? (across == 1 ? columns : 1) : row_stride;
    return {{count, columns}, onednn_type(dtype), memory::dims{down, across}};
  }
};

/// nullopt where rows or columns need several loops.
std::optional<Matrices> matrices(const StridedView& view, size_t operand) {
  const size_t leading = view.dimensions.size() - 2;
  const auto rows = view.stride(leading);
  const auto columns = view.stride(leading + 1);
  if (!rows || !columns) return std::nullopt;
  const tensor::Shape shape = view.shape();
  return Matrices{operand, shape[leading], shape[leading + 1], view.leading_offsets(leading),
                  *rows,   *columns};
}

/// Bytes of bools where there is a fill, else of float32.
struct Mask {
  Matrices matrices;
  std::optional<float> fill;
  bool where = false;
};

struct Operands {
  Matrices q;
  Matrices k;
  Matrices v;
  std::vector<Mask> masks;
  Matrices result;
  float scale = 1;
  bool guarded = false;
  DType storage = DType::kFloat32;
};

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
  explicit AttentionKernel(Operands operands) : o_(std::move(operands)), threads_(omp_get_max_threads()) {
    block_ = std::clamp(kBlockScores / o_.k.columns, kLeastRows, kMostRows);
    // As many blocks as keep all threads busy.
    while (block_ > kLeastRows && heads() * blocks() < 2 * threads_) block_ /= 2;
    block_ = std::min(block_, o_.q.rows);
    const Matrices scores{0, block_, o_.k.columns, {}, o_.k.columns, 1};
    for (const int64_t rows : {block_, o_.q.rows % block_}) {
      if (rows == 0) continue;
      products_.push_back(make_product(o_.q.desc(o_.storage, rows), o_.k.desc(o_.storage, o_.k.rows),
                                       scores.desc(DType::kFloat32, rows), pad_bytes_));
      products_.push_back(make_product(scores.desc(o_.storage, rows), o_.v.desc(o_.storage, o_.v.rows),
                                       o_.result.desc(o_.storage, rows), pad_bytes_));
    }
    pad_bytes_ = aligned(pad_bytes_);
    scores_bytes_ = aligned(block_ * o_.k.columns * int64_t{sizeof(float)});
    weights_bytes_ = o_.storage == DType::kFloat32 ? 0 : scores_bytes_ / 2;
  }

  int64_t scratch_bytes() const { return threads_ * thread_bytes(); }

  void run(const engine::Run& run) const override {
    const std::unique_ptr<engine::KernelState> own = run.state == nullptr ? make_state() : nullptr;
    auto& state = static_cast<State&>(own == nullptr ? *run.state : *own);
    const int64_t tasks = heads() * blocks();
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
  /// Of each product.
  using States = std::vector<std::unique_ptr<engine::KernelState>>;
  struct State final : engine::KernelState {
    std::vector<States> threads;
  };

  int64_t heads() const { return static_cast<int64_t>(o_.result.offsets.size()); }
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

  /// To the scores of one row.
  void apply(const Mask& mask, const void* operand, size_t head, int64_t row, float* x) const {
    const Matrices& m = mask.matrices;
    const int64_t at = m.offsets[head] + row * m.row_stride;
    const auto keys = static_cast<size_t>(o_.k.columns);
    if (!mask.fill) return add_to_row(x, static_cast<const float*>(operand) + at, m.column_stride, keys);
    fill_row(x, static_cast<const bool*>(operand) + at, m.column_stride, mask.where, *mask.fill, keys);
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
      if (o_.scale != 1) scale_row(x, o_.scale, 0, x, keys);
      for (const Mask& mask : o_.masks) apply(mask, run.inputs[mask.matrices.operand], head, first + row, x);
      const float sum = exp_row(x, fold_row(Fold::kMax, x, keys), x, keys);
      // All is masked where the largest score is minus infinity, and the sum is NaN then.
      if (o_.guarded && std::isnan(sum)) {
        std::fill_n(x, keys, 0.0f);
      } else {
        scale_row(x, 1 / sum, 0, x, keys);
      }
      if (o_.storage != DType::kFloat32)
        narrow(x, reinterpret_cast<tensor::BFloat16*>(weights) + row * o_.k.columns, keys);
    }
    multiply(product + 1, weights, input(o_.v, 0),
             at(static_cast<std::byte*>(run.outputs[0]), o_.result, head, first), pad, states);
  }

  Operands o_;
  int64_t threads_;
  int64_t block_ = 1;
  /// Of whole blocks and, where there is one, of the last: the scores, then the result.
  std::vector<OnednnKernel> products_;
  int64_t scores_bytes_ = 0;
  int64_t weights_bytes_ = 0;
  int64_t pad_bytes_ = 0;
};

/// Empty when `operands` is filled in, and `offer` says how they must lie; else why attention cannot run so.
Refusal arrange(const StepRequest& request, const graph::Graph& body, const Attention& attention,
                Offer& offer, Operands& operands) {
  const auto place = [&](const StridedView& view, DType dtype, Matrices& out) -> Refusal {
    const auto operand = static_cast<size_t>(std::find(body.inputs.begin(), body.inputs.end(), view.base) -
                                             body.inputs.begin());
    const auto found = matrices(view, operand);
    if (!found) return "rows of an operand lie unevenly";
    out = *found;
    const TensorDesc desc{dtype, request.inputs[operand].shape, Layout::kPlain};
    TensorDesc& wanted = offer.inputs[operand];
    if (wanted.dtype != DType::kUndefined && wanted != desc) return "a mask is an operand of a product too";
    wanted = desc;
    return {};
  };
  for (const auto& [view, out] : {std::pair(&attention.q, &operands.q), std::pair(&attention.k, &operands.k),
                                  std::pair(&attention.v, &operands.v)}) {
    if (Refusal reason = place(*view, operands.storage, *out)) return reason;
    if (!out->are_dense()) return "neither rows nor columns of an operand are contiguous";
  }
  for (const graph::AttentionMask& mask : attention.masks) {
    Mask& placed = operands.masks.emplace_back(Mask{{}, mask.fill, mask.where});
    if (Refusal reason = place(mask.view, mask.fill ? DType::kBool : DType::kFloat32, placed.matrices))
      return reason;
  }
  const auto result = matrices(attention.result, 0);
  if (!result || (result->columns != 1 && result->column_stride != 1)) return "rows of its result lie apart";
  operands.result = *result;
  return {};
}

Offer make_attention(const StepRequest& request) {
  const graph::Graph body = graph::typed_body(request.graph, request.node);
  const auto attention = graph::read_attention(body);
  if (!attention) return Offer::refuse("its body is no attention of float32 with operands that lie evenly");
  Offer offer;
  offer.inputs.resize(request.inputs.size());
  offer.outputs = {{request.storage(), request.outputs[0].shape, Layout::kPlain}};
  Operands operands{.scale = static_cast<float>(attention->scale),
                    .guarded = attention->guarded,
                    .storage = request.storage()};
  if (Refusal reason = arrange(request, body, *attention, offer, operands))
    return Offer::refuse(std::move(reason));
  if (operands.q.columns == 0 || operands.k.columns == 0) return Offer::refuse("it sums over nothing");
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
