// QuantizeLinear, DequantizeLinear and DynamicQuantizeLinear between float32 and 8-bit integers, with one
// scale for the tensor or one for each index of an axis.
#include <algorithm>
#include <cmath>

#include "device/cpu/quantize_math.hpp"
#include "device/cpu/quantized/operands.hpp"
#include "device/cpu/ranges.hpp"
#include "device/cpu/reduction_math.hpp"
#include "device/cpu/tactics.hpp"
#include "engine/requirements.hpp"
#include "graph/quantized_chain.hpp"
#include "graph/region.hpp"

namespace hone::device::cpu {
namespace {

using engine::Layout;
using engine::Offer;
using engine::StepRequest;
using engine::TensorDesc;
using tensor::DType;

/// Elements that are worth starting threads for.
constexpr int64_t kWorthThreads = 1 << 17;
/// Elements that one thread takes at a time.
constexpr int64_t kPart = 1 << 12;

/// Rows of `inner` elements; row r has scale r % scales.
struct Rows {
  int64_t count = 1;
  int64_t inner = 1;
  int64_t scales = 1;
};

int32_t zero_point_of(const void* zero_points, DType dtype, int64_t i) {
  if (zero_points == nullptr) return 0;
  switch (dtype) {
    case DType::kUInt8: return static_cast<const uint8_t*>(zero_points)[i];
    case DType::kInt8: return static_cast<const int8_t*>(zero_points)[i];
    default: return static_cast<const int32_t*>(zero_points)[i];
  }
}

/// Calls f(first element, count, scale, zero point) for parts of rows.
template <class F>
void for_each_part(const Rows& rows, const engine::Run& run, DType quantized, F&& f) {
  const auto* scales = static_cast<const float*>(run.inputs[1]);
  const void* zero_points = run.inputs.size() > 2 ? run.inputs[2] : nullptr;
  const int64_t parts = (rows.inner + kPart - 1) / kPart;
  const int64_t units = rows.count * parts;
#pragma omp parallel for schedule(static) if (units > 1 && rows.count * rows.inner > kWorthThreads)
  for (int64_t unit = 0; unit < units; ++unit) {
    const int64_t row = unit / parts;
    const int64_t begin = unit % parts * kPart;
    const int64_t scale = row % rows.scales;
    f(row * rows.inner + begin, static_cast<size_t>(std::min(kPart, rows.inner - begin)), scales[scale],
      zero_point_of(zero_points, quantized, scale));
  }
}

class QuantizeKernel final : public engine::Kernel {
 public:
  QuantizeKernel(Rows rows, DType to) : rows_(rows), to_(to) {}

  void run(const engine::Run& run) const override {
    const auto* x = static_cast<const float*>(run.inputs[0]);
    for_each_part(rows_, run, to_, [&](int64_t first, size_t n, float scale, int32_t zero) {
      const auto zero_point = static_cast<float>(zero);
      if (to_ == DType::kUInt8) {
        quantize_row(x + first, scale, zero_point, static_cast<uint8_t*>(run.outputs[0]) + first, n);
      } else {
        quantize_row(x + first, scale, zero_point, static_cast<int8_t*>(run.outputs[0]) + first, n);
      }
    });
  }

 private:
  Rows rows_;
  DType to_;
};

/// Images whose planes follow each other become channels-last.
class QuantizeImageKernel final : public engine::Kernel {
 public:
  QuantizeImageKernel(const engine::Shape& shape, DType to)
      : batch_(shape[0]), channels_(shape[1]), pixels_(1), to_(to) {
    for (size_t i = 2; i < shape.size(); ++i) pixels_ *= shape[i];
  }

  void run(const engine::Run& run) const override {
    const float scale = *static_cast<const float*>(run.inputs[1]);
    const auto zero_point =
        static_cast<float>(zero_point_of(run.inputs.size() > 2 ? run.inputs[2] : nullptr, to_, 0));
    const int64_t parts = (pixels_ + kPixels - 1) / kPixels;
#pragma omp parallel for schedule(static) if (batch_ * channels_ * pixels_ > kWorthThreads)
    for (int64_t part = 0; part < batch_ * parts; ++part) {
      const int64_t first = part % parts * kPixels;
      run_part(run, part / parts, first, std::min(kPixels, pixels_ - first), scale, zero_point);
    }
  }

 private:
  static constexpr int64_t kPixels = 512;

  void run_part(const engine::Run& run, int64_t image, int64_t first, int64_t count, float scale,
                float zero_point) const {
    const auto* x = static_cast<const float*>(run.inputs[0]) + image * channels_ * pixels_ + first;
    auto* y = static_cast<uint8_t*>(run.outputs[0]) + (image * pixels_ + first) * channels_;
    uint8_t row[kPixels];
    for (int64_t channel = 0; channel < channels_; ++channel, x += pixels_) {
      if (to_ == DType::kUInt8) {
        quantize_row(x, scale, zero_point, row, static_cast<size_t>(count));
      } else {
        quantize_row(x, scale, zero_point, reinterpret_cast<int8_t*>(row), static_cast<size_t>(count));
      }
      for (int64_t i = 0; i < count; ++i) y[i * channels_ + channel] = row[i];
    }
  }

  int64_t batch_;
  int64_t channels_;
  int64_t pixels_;
  DType to_;
};

class DequantizeKernel final : public engine::Kernel {
 public:
  DequantizeKernel(Rows rows, DType from) : rows_(rows), from_(from) {}

  void run(const engine::Run& run) const override {
    auto* y = static_cast<float*>(run.outputs[0]);
    for_each_part(rows_, run, from_, [&](int64_t first, size_t n, float scale, int32_t zero_point) {
      const auto zero = static_cast<float>(zero_point);
      switch (from_) {
        case DType::kUInt8:
          return dequantize_row(static_cast<const uint8_t*>(run.inputs[0]) + first, scale, zero, y + first,
                                n);
        case DType::kInt8:
          return dequantize_row(static_cast<const int8_t*>(run.inputs[0]) + first, scale, zero, y + first, n);
        default:
          return dequantize_row(static_cast<const int32_t*>(run.inputs[0]) + first, scale, zero_point,
                                y + first, n);
      }
    });
  }

 private:
  Rows rows_;
  DType from_;
};

/// The rows that scales of this shape make of the data; nullopt for blocks along an axis.
std::optional<Rows> rows_of(const StepRequest& request) {
  const engine::Shape& data = request.inputs[0].shape;
  const engine::Shape& scale = request.inputs[1].shape;
  const graph::Attributes& attributes = request.node.attributes;
  Rows rows;
  if (attributes.get_int("block_size") != 0) return std::nullopt;
  if (tensor::element_count(scale) == 1) {
    rows.inner = tensor::element_count(data);
    return rows;
  }
  const auto axis = static_cast<size_t>(
      tensor::normalize_axis(attributes.get_int("axis"), static_cast<int64_t>(data.size())));
  if (scale.size() != 1 || scale[0] != data[axis]) return std::nullopt;
  rows.scales = data[axis];
  for (size_t d = 0; d <= axis; ++d) rows.count *= data[d];
  for (size_t d = axis + 1; d < data.size(); ++d) rows.inner *= data[d];
  return rows;
}

/// Operands as the graph has them.
Offer exact_offer(const StepRequest& request, std::shared_ptr<const engine::Kernel> kernel) {
  Offer offer;
  for (size_t i = 0; i < request.inputs.size(); ++i) {
    if (!request.node.has_input(i)) {
      offer.inputs.emplace_back();
      continue;
    }
    offer.inputs.push_back(
        {request.graph.value(request.node.inputs[i]).type.dtype, request.inputs[i].shape, Layout::kPlain});
  }
  offer.outputs = request.outputs;
  offer.kernel = std::move(kernel);
  return offer;
}

DType dtype_of(const StepRequest& request, size_t input) {
  return request.graph.value(request.node.inputs[input]).type.dtype;
}

/// True if a step that reads the result wants channels-last images.
bool is_read_as_image(const StepRequest& request) {
  const graph::ValueId id = request.node.outputs[0];
  const auto& nodes = request.graph.nodes;
  return std::any_of(nodes.begin(), nodes.end(), [&](const graph::Node& node) {
    if (std::find(node.inputs.begin(), node.inputs.end(), id) == node.inputs.end()) return false;
    if (node.op == "MaxPool" || node.op == "QLinearConv" || node.op == "ConvInteger") return true;
    if (!graph::is_region(node)) return false;
    const auto chain = graph::read_quantized_chain(node);
    if (!chain || chain->core == nullptr) return false;
    const std::string& op = chain->core->op;
    return op != "MatMul" && op != "FusedMatMul" && op != "Gemm" && op != "FusedGemm";
  });
}

/// Offers for one scale: images stay channels-last where they are, and become it where that is wanted.
Offer image_offer(const StepRequest& request, DType to) {
  const engine::Shape& shape = request.inputs[0].shape;
  const bool last = request.inputs[0].layout == Layout::kChannelsLast;
  const bool image = shape.size() == 4 || shape.size() == 5;
  if (!image || tensor::element_count(shape) == 0 || tensor::element_count(request.inputs[1].shape) != 1)
    return Offer::refuse("no image of one scale");
  if (!last && !is_read_as_image(request)) return Offer::refuse("nobody wants channels-last");
  std::shared_ptr<const engine::Kernel> kernel;
  if (last) {
    kernel = std::make_shared<QuantizeKernel>(Rows{.inner = tensor::element_count(shape)}, to);
  } else {
    kernel = std::make_shared<QuantizeImageKernel>(shape, to);
  }
  Offer offer = exact_offer(request, std::move(kernel));
  if (last) offer.inputs[0].layout = Layout::kChannelsLast;
  offer.outputs[0].layout = Layout::kChannelsLast;
  return offer;
}

Offer offer_quantize(const StepRequest& request, engine::WeightStore&) {
  const DType to = request.outputs[0].dtype;
  if (dtype_of(request, 0) != DType::kFloat32 || dtype_of(request, 1) != DType::kFloat32 || !is_byte(to))
    return Offer::refuse("not from float32 to 8 bits");
  Offer image = image_offer(request, to);
  if (!image.refusal) return image;
  const auto rows = rows_of(request);
  if (!rows) return Offer::refuse("scales for blocks along an axis");
  return exact_offer(request, std::make_shared<QuantizeKernel>(*rows, to));
}

Offer offer_dequantize(const StepRequest& request, engine::WeightStore&) {
  const DType from = dtype_of(request, 0);
  if (dtype_of(request, 1) != DType::kFloat32 || (!is_byte(from) && from != DType::kInt32))
    return Offer::refuse("not from integers of 8 or 32 bits to float32");
  const auto rows = rows_of(request);
  if (!rows) return Offer::refuse("scales for blocks along an axis");
  Offer offer = exact_offer(request, std::make_shared<DequantizeKernel>(*rows, from));
  if (tensor::element_count(request.inputs[1].shape) == 1 &&
      request.inputs[0].layout == Layout::kChannelsLast) {
    offer.inputs[0].layout = Layout::kChannelsLast;
    offer.outputs[0].layout = Layout::kChannelsLast;
  }
  return offer;
}

/// The range is widened to hold 0. All zeros have no range; their scale is 1, so that nothing divides by 0.
class DynamicQuantizeKernel final : public engine::Kernel {
 public:
  explicit DynamicQuantizeKernel(int64_t count) : count_(count) {}

  /// An extreme element of each part, and 0.
  int64_t scratch_bytes() const { return (parts() + 1) * int64_t{sizeof(float)}; }

  void run(const engine::Run& run) const override {
    const auto* x = static_cast<const float*>(run.inputs[0]);
    auto* y = static_cast<uint8_t*>(run.outputs[0]);
    auto* const values = static_cast<float*>(run.scratch);
    const float lowest = extreme(x, Fold::kMin, values);
    const float highest = extreme(x, Fold::kMax, values);
    const float scale = highest > lowest ? (highest - lowest) / 255.0f : 1.0f;
    const float from = -lowest;
    uint8_t zero_point = 0;
    quantize_row(&from, scale, 0, &zero_point, 1);
#pragma omp parallel for schedule(static) if (count_ > kWorthThreads)
    for (int64_t part = 0; part < parts(); ++part) {
      const int64_t first = part * kPart;
      quantize_row(x + first, scale, zero_point, y + first,
                   static_cast<size_t>(std::min(kPart, count_ - first)));
    }
    if (run.outputs.size() > 1 && run.outputs[1] != nullptr) *static_cast<float*>(run.outputs[1]) = scale;
    if (run.outputs.size() > 2 && run.outputs[2] != nullptr)
      *static_cast<uint8_t*>(run.outputs[2]) = zero_point;
  }

 private:
  int64_t parts() const { return (count_ + kPart - 1) / kPart; }

  /// The extreme element or 0; what is no number is none.
  float extreme(const float* x, Fold fold, float* values) const {
    values[parts()] = 0;
#pragma omp parallel for schedule(static) if (count_ > kWorthThreads)
    for (int64_t part = 0; part < parts(); ++part) {
      const float* from = x + part * kPart;
      const int64_t n = std::min(kPart, count_ - part * kPart);
      float value = fold_row(fold, from, static_cast<size_t>(n));
      if (std::isnan(value)) {
        value = 0;
        for (int64_t i = 0; i < n; ++i) {
          if (!std::isnan(from[i])) value = join_folds(fold, value, from[i]);
        }
      }
      values[part] = value;
    }
    return fold_row(fold, values, static_cast<size_t>(parts()) + 1);
  }

  int64_t count_;
};

Offer offer_dynamic_quantize(const StepRequest& request, engine::WeightStore&) {
  auto kernel = std::make_shared<DynamicQuantizeKernel>(tensor::element_count(request.inputs[0].shape));
  const int64_t scratch_bytes = kernel->scratch_bytes();
  Offer offer = exact_offer(request, std::move(kernel));
  offer.scratch_bytes = scratch_bytes;
  return offer;
}

}  // namespace

void add_quantization_tactics(TacticList& list) {
  list.push_back({.name = "quantize", .operators = {"QuantizeLinear"}, .make = offer_quantize});
  list.push_back({.name = "dequantize", .operators = {"DequantizeLinear"}, .make = offer_dequantize});
  list.push_back(
      {.name = "dynamic_quantize", .operators = {"DynamicQuantizeLinear"}, .make = offer_dynamic_quantize});
}

}  // namespace hone::device::cpu
