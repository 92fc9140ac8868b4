// Operation graphs and execution plans of cuDNN; see cudnn.hpp.
#include "device/cuda/plugin/kernels/common/library_call.hpp"
#include "device/cuda/plugin/libraries/cudnn.hpp"
#include "device/cuda/plugin/libraries/cudnn_errors.hpp"
#include "device/cuda/plugin/libraries/cudnn_knobs.hpp"
#include "device/cuda/plugin/runtime.hpp"

namespace hone::device::cuda {
namespace {

using tensor::Precision;

cudnnDataType_t storage_type(Precision precision) {
  switch (precision) {
    case Precision::kBf16: return CUDNN_DATA_BFLOAT16;
    case Precision::kFp16: return CUDNN_DATA_HALF;
    default: return CUDNN_DATA_FLOAT;
  }
}

/// Strides of a tensor whose second dimension is innermost.
std::vector<int64_t> channels_last_strides(const std::vector<int64_t>& dims) {
  return {dims[1] * dims[2] * dims[3], 1, dims[1] * dims[3], dims[1]};
}

CudnnDescriptor make_tensor(int64_t id, cudnnDataType_t type, const std::vector<int64_t>& dims,
                            bool is_virtual) {
  CudnnDescriptor descriptor(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
  descriptor.set(CUDNN_ATTR_TENSOR_DATA_TYPE, type)
      .set(CUDNN_ATTR_TENSOR_DIMENSIONS, dims)
      .set(CUDNN_ATTR_TENSOR_STRIDES, channels_last_strides(dims))
      .set(CUDNN_ATTR_TENSOR_UNIQUE_ID, id)
      .set(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, 16);
  descriptor.set(CUDNN_ATTR_TENSOR_IS_VIRTUAL, CUDNN_TYPE_BOOLEAN, 1, &is_virtual);
  descriptor.finalize();
  return descriptor;
}

CudnnDescriptor make_pointwise(const CudnnPointwise& op) {
  CudnnDescriptor descriptor(CUDNN_BACKEND_POINTWISE_DESCRIPTOR);
  descriptor.set(CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE, 1, &op.mode)
      .set(CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_DATA_FLOAT);
  if (op.mode == CUDNN_POINTWISE_RELU_FWD) {
    if (op.bounded) {
      descriptor.set_double(CUDNN_ATTR_POINTWISE_RELU_LOWER_CLIP, op.lower)
          .set_double(CUDNN_ATTR_POINTWISE_RELU_UPPER_CLIP, op.upper);
    }
    if (op.slope != 0) descriptor.set_double(CUDNN_ATTR_POINTWISE_RELU_LOWER_CLIP_SLOPE, op.slope);
  }
  if (op.mode == CUDNN_POINTWISE_SWISH_FWD) descriptor.set_double(CUDNN_ATTR_POINTWISE_SWISH_BETA, op.slope);
  if (op.mode == CUDNN_POINTWISE_ELU_FWD) descriptor.set_double(CUDNN_ATTR_POINTWISE_ELU_ALPHA, op.slope);
  descriptor.finalize();
  return descriptor;
}

}  // namespace

CudnnGraph::CudnnGraph(const CudnnConvolution& c, cudnnHandle_t handle)
    : handle_(handle), graph_(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR), precision_(c.precision) {
  const cudnnDataType_t type = storage_type(c.precision);
  const auto add = [this](CudnnDescriptor descriptor) {
    parts_.push_back(std::move(descriptor));
    return parts_.size() - 1;
  };
  const size_t x = add(make_tensor(kCudnnX, type, c.x, false));
  const size_t w = add(make_tensor(kCudnnW, type, c.w, false));
  constexpr int64_t kFirstVirtual = 100;
  int64_t next_virtual = kFirstVirtual;
  const auto result = [&](bool last) {
    return add(last ? make_tensor(kCudnnY, type, c.y, false)
                    : make_tensor(next_virtual++, CUDNN_DATA_FLOAT, c.y, true));
  };
  size_t value = result(c.pointwise.empty());

  CudnnDescriptor convolution(CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
  const cudnnConvolutionMode_t mode = CUDNN_CROSS_CORRELATION;
  convolution.set(CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_DATA_FLOAT)
      .set(CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE, 1, &mode)
      .set(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, 2)
      .set(CUDNN_ATTR_CONVOLUTION_DILATIONS, c.dilations)
      .set(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, c.strides)
      .set(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, c.pads_begin)
      .set(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, c.pads_end)
      .finalize();
  const size_t geometry = add(std::move(convolution));
  CudnnDescriptor forward(CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR);
  const float one = 1;
  const float zero = 0;
  forward.set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC, parts_[geometry])
      .set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X, parts_[x])
      .set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W, parts_[w])
      .set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y, parts_[value])
      .set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA, CUDNN_TYPE_FLOAT, 1, &one)
      .set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA, CUDNN_TYPE_FLOAT, 1, &zero)
      .finalize();
  std::vector<size_t> operations = {add(std::move(forward))};

  for (size_t i = 0; i < c.pointwise.size(); ++i) {
    const CudnnPointwise& op = c.pointwise[i];
    const size_t kind = add(make_pointwise(op));
    const size_t next = result(i + 1 == c.pointwise.size());
    CudnnDescriptor operation(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
    operation.set(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, parts_[kind])
        .set(CUDNN_ATTR_OPERATION_POINTWISE_XDESC, parts_[value])
        .set(CUDNN_ATTR_OPERATION_POINTWISE_YDESC, parts_[next]);
    if (op.operand != 0) {
      const size_t operand =
          add(op.per_channel ? make_tensor(op.operand, CUDNN_DATA_FLOAT, {1, c.y[1], 1, 1}, false)
                             : make_tensor(op.operand, type, c.y, false));
      operation.set(CUDNN_ATTR_OPERATION_POINTWISE_BDESC, parts_[operand]);
    }
    operation.finalize();
    operations.push_back(add(std::move(operation)));
    value = next;
  }

  std::vector<cudnnBackendDescriptor_t> pointers;
  for (const size_t operation : operations) pointers.push_back(parts_[operation].get());
  graph_.set_handle(CUDNN_ATTR_OPERATIONGRAPH_HANDLE, handle_)
      .set(CUDNN_ATTR_OPERATIONGRAPH_OPS, CUDNN_TYPE_BACKEND_DESCRIPTOR,
           static_cast<int64_t>(pointers.size()), static_cast<const void*>(pointers.data()))
      .finalize();
}

CudnnPlan::CudnnPlan(std::shared_ptr<const CudnnGraph> graph, std::string_view config, CudnnHandles& handles)
    : graph_(std::move(graph)), handles_(handles), plan_(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR) {
  const CudnnConfig parsed = parse_config(config);
  CudnnDescriptor engine(CUDNN_BACKEND_ENGINE_DESCRIPTOR);
  engine.set(CUDNN_ATTR_ENGINE_OPERATION_GRAPH, graph_->descriptor())
      .set(CUDNN_ATTR_ENGINE_GLOBAL_INDEX, parsed.engine)
      .finalize();
  std::vector<CudnnDescriptor> choices;
  std::vector<cudnnBackendDescriptor_t> pointers;
  for (const auto& [knob, value] : parsed.knobs) {
    const auto type = static_cast<cudnnBackendKnobType_t>(knob);
    choices.emplace_back(CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR)
        .set(CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE, CUDNN_TYPE_KNOB_TYPE, 1, &type)
        .set(CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE, value)
        .finalize();
  }
  for (const CudnnDescriptor& choice : choices) pointers.push_back(choice.get());
  CudnnDescriptor engine_config(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
  engine_config.set(CUDNN_ATTR_ENGINECFG_ENGINE, engine);
  if (!pointers.empty()) {
    engine_config.set(CUDNN_ATTR_ENGINECFG_KNOB_CHOICES, CUDNN_TYPE_BACKEND_DESCRIPTOR,
                      static_cast<int64_t>(pointers.size()), static_cast<const void*>(pointers.data()));
  }
  engine_config.finalize();
  plan_.set_handle(CUDNN_ATTR_EXECUTION_PLAN_HANDLE, graph_->handle())
      .set(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, engine_config)
      .finalize();
  int64_t count = 0;
  check(cudnnBackendGetAttribute(plan_.get(), CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, CUDNN_TYPE_INT64, 1,
                                 &count, &workspace_bytes_),
        "reading a plan's workspace");
}

void CudnnPlan::execute(cudaStream_t stream, const std::vector<int64_t>& ids, std::vector<void*> pointers,
                        void* workspace) const {
  const CudnnHandles::Lease handle(handles_);
  check(cudnnSetStream(handle.get(), stream), "setting the stream");
  CudnnDescriptor pack(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
  pack.set(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, ids)
      .set(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, static_cast<int64_t>(pointers.size()),
           static_cast<const void*>(pointers.data()))
      .set(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, 1, static_cast<const void*>(&workspace))
      .finalize();
  const auto run = [&] {
    check(cudnnBackendExecute(handle.get(), plan_.get(), pack.get()), "running a plan");
  };
  check(call_library(stream, run), "running a plan");
}

}  // namespace hone::device::cuda
