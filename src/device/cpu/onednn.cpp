// See onednn.hpp.
#include "device/cpu/onednn.hpp"

#include <dnnl_debug.h>

#include <cstring>

#include "base/checked.hpp"
#include "tensor/saturate.hpp"
#include "tensor/shape.hpp"

namespace hone::device::cpu {

using dnnl::memory;
using engine::Layout;
using engine::TensorDesc;
using tensor::DType;

const dnnl::engine& onednn_engine() {
  static const dnnl::engine kEngine(dnnl::engine::kind::cpu, 0);
  return kEngine;
}

std::string onednn_version() {
  const dnnl_version_t* version = dnnl_version();
  return fmt::format("{}.{}.{}", version->major, version->minor, version->patch);
}

bool onednn_supports(DType dtype) {
  switch (dtype) {
    case DType::kFloat32:
    case DType::kBFloat16:
    case DType::kInt8:
    case DType::kUInt8:
    case DType::kInt32: return true;
    default: return false;
  }
}

memory::data_type onednn_type(DType dtype) {
  switch (dtype) {
    case DType::kFloat32: return memory::data_type::f32;
    case DType::kBFloat16: return memory::data_type::bf16;
    case DType::kInt8: return memory::data_type::s8;
    case DType::kUInt8: return memory::data_type::u8;
    case DType::kInt32: return memory::data_type::s32;
    default: break;
  }
  fail_internal("oneDNN has no element type {}", tensor::dtype_name(dtype));
}

namespace {

using Tag = memory::format_tag;

Tag image_tag(Layout layout, size_t rank) {
  const bool volume = rank == 5;
  switch (layout) {
    case Layout::kChannelsLast: return volume ? Tag::ndhwc : Tag::nhwc;
    case Layout::kBlocked8: return volume ? Tag::nCdhw8c : Tag::nChw8c;
    case Layout::kBlocked16: return volume ? Tag::nCdhw16c : Tag::nChw16c;
    case Layout::kPlain: break;
  }
  return volume ? Tag::ncdhw : Tag::nchw;
}

/// oneDNN's name of the format tag that a descriptor matches, or "" for one that has no tag.
std::string tag_of(const memory::desc& desc) {
  const auto dims = desc.dims();
  for (int tag = dnnl_format_tag_any + 1; tag < dnnl_format_tag_last; ++tag) {
    const memory::desc candidate(dims, desc.data_type(), static_cast<Tag>(tag), /*allow_empty=*/true);
    if (candidate == desc) return dnnl_fmt_tag2str(static_cast<dnnl_format_tag_t>(tag));
  }
  return {};
}

std::optional<Tag> tag_named(std::string_view name) {
  for (int tag = dnnl_format_tag_any + 1; tag < dnnl_format_tag_last; ++tag) {
    if (name == dnnl_fmt_tag2str(static_cast<dnnl_format_tag_t>(tag))) return static_cast<Tag>(tag);
  }
  return std::nullopt;
}

std::string listed(const memory::dim* items, int count) {
  return fmt::format("{}", fmt::join(items, items + count, "x"));
}

#if DNNL_VERSION_MAJOR < 3
std::string winograd_text(const dnnl_wino_desc_t& wino) {
  return fmt::format("wino{}.{}.{}-channels{}x{}-blocks{}x{}-groups{}x{}-scale{}",
                     static_cast<int>(wino.wino_format), wino.r, wino.alpha, wino.ic, wino.oc, wino.ic_block,
                     wino.oc_block, wino.ic2_block, wino.oc2_block, wino.adj_scale);
}

std::string blocked_text(const dnnl_memory_desc_t& desc) {
  const dnnl_blocking_desc_t& blocked = desc.format_desc.blocking;
  return fmt::format(
      "padded{}-strides{}-blocks{}-of{}-extra{}.{}.{}.{}", listed(desc.padded_dims, desc.ndims),
      listed(blocked.strides, desc.ndims), listed(blocked.inner_blks, blocked.inner_nblks),
      listed(blocked.inner_idxs, blocked.inner_nblks), desc.extra.flags, desc.extra.compensation_mask,
      desc.extra.scale_adjust, desc.extra.asymm_compensation_mask);
}
#endif

/// Everything that distinguishes arrangements without a format tag: Winograd filters for different images
/// agree in dimensions and size, and only differ in their blocks. Named members, since a format leaves some
/// of them unused, and these and the padding between members may hold anything.
std::string opaque_text(const memory::desc& desc) {
#if DNNL_VERSION_MAJOR < 3
  if (desc.data.format_kind == dnnl_format_kind_wino) return winograd_text(desc.data.format_desc.wino_desc);
  if (desc.data.format_kind == dnnl_blocked) return blocked_text(desc.data);
#endif
  // The tactic refuses then: bytes whose arrangement has no name cannot be found again.
  throw dnnl::error(dnnl_unimplemented, "weights in an arrangement that has no name");
}

void reorder(const memory::desc& from, const void* source, const memory::desc& to, void* target) {
  memory input(from, onednn_engine(), const_cast<void*>(source));
  memory output(to, onednn_engine(), target);
  dnnl::stream stream(onednn_engine());
  dnnl::reorder(input, output).execute(stream, input, output);
  stream.wait();
}

}  // namespace

memory::dims row_major(const memory::dims& dims) {
  const auto strides = tensor::row_major_strides(dims);
  return {strides.begin(), strides.end()};
}

memory::desc onednn_desc(const TensorDesc& desc) {
  const memory::data_type type = onednn_type(desc.dtype);
  memory::dims dims(desc.shape.begin(), desc.shape.end());
  if (dims.empty()) dims.push_back(1);
  if (desc.layout != Layout::kPlain) return {dims, type, image_tag(desc.layout, dims.size())};
  return {dims, type, row_major(dims)};
}

namespace {

/// The store's word for a constant of these dimensions arranged as `wanted`.
std::string format_of(const engine::StepRequest& request, const memory::desc& wanted,
                      std::string_view dims_text) {
  const std::string tag = tag_of(wanted);
  const std::string arrangement = fmt::format("{}{}:{}:{}", request.emulates_bf16() ? "bf16-rounded-" : "",
                                              dnnl_dt2str(static_cast<dnnl_data_type_t>(wanted.data_type())),
                                              tag.empty() ? "opaque-" + opaque_text(wanted) : tag, dims_text);
  return tag.empty() ? engine::kFinalForm + arrangement : arrangement;
}

/// The arrangement that a stored word names; nullopt when it is another's or a constant's of other
/// dimensions.
std::optional<memory::desc> desc_of(const std::string& word, const memory::dims& dims,
                                    std::string_view dims_text) {
  const size_t colon = word.find(':');
  const size_t end = colon == std::string::npos ? colon : word.find(':', colon + 1);
  if (end == std::string::npos || std::string_view(word).substr(end + 1) != dims_text) return std::nullopt;
  const auto tag = tag_named(std::string_view(word).substr(colon + 1, end - colon - 1));
  if (!tag) return std::nullopt;
  const auto type = word.starts_with("bf16:") ? memory::data_type::bf16 : memory::data_type::f32;
  return memory::desc(dims, type, *tag);
}

/// The type in a word: "f32", "bf16", "bf16-rounded-f32".
std::string_view type_of(std::string_view word) {
  if (word.starts_with(engine::kFinalForm)) word.remove_prefix(1);
  return word.substr(0, word.find(':'));
}

/// A form that is stored of a constant of which the engine file kept packed forms only, and how it lies: of
/// the wanted type where there is one, since steps of other numeric policies may read the constant too.
std::pair<memory::desc, const std::byte*> stored_form(const engine::WeightKey& key, const memory::dims& dims,
                                                      std::string_view dims_text,
                                                      const engine::WeightStore& weights) {
  std::optional<std::pair<memory::desc, const std::byte*>> found;
  for (const auto& [have, bytes] : weights.entries()) {
    if (have.first != key.first) continue;
    const auto desc = desc_of(have.second, dims, dims_text);
    if (!desc) continue;
    if (desc->get_size() != bytes.byte_size()) {
      fail_bad_input("packed constant '{}' has {} bytes, its format needs {}", have.first, bytes.byte_size(),
                     desc->get_size());
    }
    if (!found || type_of(have.second) == type_of(key.second)) found = {*desc, bytes.bytes()};
  }
  if (!found) throw engine::MissingForm(key);
  return *found;
}

tensor::Tensor zeros_for(const memory::desc& desc) {
  tensor::Tensor bytes(DType::kUInt8, {base::checked_cast<int64_t>(desc.get_size())});
  std::memset(bytes.mutable_bytes(), 0, bytes.byte_size());
  return bytes;
}

PackedConstant pack_strided(const engine::StepRequest& request, size_t operand, const memory::dims& dims,
                            const memory::dims& strides, tensor::FilterAxis axis, const memory::desc& wanted,
                            engine::WeightStore& weights) {
  const graph::ValueId id = request.node.inputs[operand];
  const std::string& name = request.graph.value(id).name;
  const tensor::Tensor& constant = *request.graph.value(id).constant;
  // Two nodes may read one matrix, one of them transposed; the dimensions of a square one are the same.
  const std::string dims_text =
      fmt::format("{}{}", fmt::join(dims, "x"), strides == row_major(dims) ? "" : "-transposed");
  const engine::WeightKey key{name, format_of(request, wanted, dims_text)};
  if (const tensor::Tensor* found = weights.find(key)) {
    if (found->byte_size() != wanted.get_size()) {
      fail_bad_input("packed constant '{}' has {} bytes, its format needs {}", name, found->byte_size(),
                     wanted.get_size());
    }
    return {found->bytes(), key};
  }

  if (constant.bytes() == nullptr) {
    // Found before there is room made for it: the dimensions are only what the file claims.
    const auto [desc, stored] = stored_form(key, dims, dims_text, weights);
    tensor::Tensor bytes = zeros_for(wanted);
    reorder(desc, stored, wanted, bytes.mutable_bytes());
    return {weights.add(key, std::move(bytes)).bytes(), key};
  }
  const bool stored_bf16 = wanted.data_type() == memory::data_type::bf16;
  tensor::Tensor plain = constant;
  if ((stored_bf16 || request.emulates_bf16()) && tensor::can_round_weights(constant))
    plain = weights.rounded(name, constant, DType::kBFloat16, axis);
  else if (stored_bf16 || request.emulates_bf16())
    plain = tensor::saturated(constant, DType::kBFloat16);
  if (request.emulates_bf16()) plain = plain.cast(constant.dtype());
  tensor::Tensor bytes = zeros_for(wanted);
  reorder({dims, onednn_type(plain.dtype()), strides}, plain.bytes(), wanted, bytes.mutable_bytes());
  return {weights.add(key, std::move(bytes)).bytes(), key};
}

}  // namespace

PackedConstant pack_constant(const engine::StepRequest& request, size_t operand, const memory::dims& dims,
                             const memory::desc& wanted, engine::WeightStore& weights) {
  return pack_strided(request, operand, dims, row_major(dims), tensor::FilterAxis::kFirst, wanted, weights);
}

PackedConstant pack_matrix(const engine::StepRequest& request, size_t operand, const memory::dims& dims,
                           bool transposed, const memory::desc& wanted, engine::WeightStore& weights) {
  const memory::dims strides = transposed ? memory::dims{dims[1], 1} : memory::dims{1, dims[0]};
  return pack_strided(request, operand, dims, strides,
                      transposed ? tensor::FilterAxis::kFirst : tensor::FilterAxis::kLast, wanted, weights);
}

PackedConstant pack_bytes(const engine::StepRequest& request, size_t operand, const memory::dims& dims,
                          const memory::dims& strides, const memory::desc& wanted,
                          engine::WeightStore& weights) {
  const graph::ValueId id = request.node.inputs[operand];
  const std::string& name = request.graph.value(id).name;
  const tensor::Tensor& constant = *request.graph.value(id).constant;
  const std::string tag = tag_of(wanted);
  // It may hold sums for zero points besides, so no other form is made of it.
  const engine::WeightKey key{
      name, fmt::format("{}int8:{}:{}-by-{}", engine::kFinalForm, tag.empty() ? opaque_text(wanted) : tag,
                        fmt::join(dims, "x"), fmt::join(strides, "x"))};
  if (const tensor::Tensor* found = weights.find(key)) {
    if (found->byte_size() != wanted.get_size()) {
      fail_bad_input("packed constant '{}' has {} bytes, its format needs {}", name, found->byte_size(),
                     wanted.get_size());
    }
    return {found->bytes(), key};
  }
  if (constant.bytes() == nullptr) throw engine::MissingForm(key);
  std::vector<int8_t> signed_bytes(constant.byte_size());
  std::memcpy(signed_bytes.data(), constant.bytes(), constant.byte_size());
  if (constant.dtype() == DType::kUInt8) {
    for (int8_t& byte : signed_bytes) byte = static_cast<int8_t>(static_cast<uint8_t>(byte) ^ 0x80u);
  }
  tensor::Tensor bytes = zeros_for(wanted);
  reorder({dims, memory::data_type::s8, strides}, signed_bytes.data(), wanted, bytes.mutable_bytes());
  return {weights.add(key, std::move(bytes)).bytes(), key};
}

void OnednnKernel::bind_input(size_t position, int dnnl_arg, const memory::desc& desc) {
  inputs_.push_back({position, dnnl_arg, desc});
}

void OnednnKernel::bind_output(size_t position, int dnnl_arg, const memory::desc& desc) {
  outputs_.push_back({position, dnnl_arg, desc});
}

void OnednnKernel::bind_scratch(const memory::desc& desc) {
  if (desc.get_size() != 0) scratch_ = desc;
}

void OnednnKernel::bind_constant(int dnnl_arg, const memory::desc& desc, const void* data) {
  constants_.push_back({dnnl_arg, desc, data});
}

struct OnednnKernel::State final : engine::KernelState {
  dnnl::stream stream{onednn_engine()};
  std::vector<memory> inputs;
  std::vector<memory> outputs;
  memory scratch;
  std::unordered_map<int, memory> arguments;
};

std::unique_ptr<engine::KernelState> OnednnKernel::make_state() const {
  auto state = std::make_unique<State>();
  const auto add = [&](int dnnl_arg, const memory::desc& desc, const void* data) {
    return state->arguments[dnnl_arg] = memory(desc, onednn_engine(), const_cast<void*>(data));
  };
  for (const Argument& input : inputs_) state->inputs.push_back(add(input.dnnl_arg, input.desc, nullptr));
  for (const Argument& output : outputs_)
    state->outputs.push_back(add(output.dnnl_arg, output.desc, nullptr));
  if (scratch_) state->scratch = add(DNNL_ARG_SCRATCHPAD, *scratch_, nullptr);
  for (const Constant& constant : constants_) add(constant.dnnl_arg, constant.desc, constant.data);
  return state;
}

void OnednnKernel::run(const engine::Run& run) const {
  const std::unique_ptr<engine::KernelState> own = run.state == nullptr ? make_state() : nullptr;
  auto& state = static_cast<State&>(own == nullptr ? *run.state : *own);
  for (size_t i = 0; i < inputs_.size(); ++i)
    state.inputs[i].set_data_handle(const_cast<void*>(run.inputs[inputs_[i].position]));
  for (size_t i = 0; i < outputs_.size(); ++i)
    state.outputs[i].set_data_handle(run.outputs[outputs_[i].position]);
  if (scratch_) state.scratch.set_data_handle(run.scratch);
  primitive_.execute(state.stream, state.arguments);
}

Refusal refuse_implementation(const char* info) {
  const std::string_view name(info);
  if (name.starts_with("ref") || name.find(":ref") != std::string_view::npos || name.starts_with("simple")) {
    return fmt::format("oneDNN has only its reference implementation ({})", name);
  }
  return {};
}

}  // namespace hone::device::cpu
