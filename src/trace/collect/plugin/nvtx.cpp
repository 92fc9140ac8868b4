// Receives the NVTX calls of the process: NVTX_INJECTION64_PATH names this library. This works before CUDA is
// initialised and in processes without CUDA, and uses none of CUPTI's buffers.
#include <nvtx3/nvToolsExt.h>

#include <string>
#include <type_traits>

#include "trace/collect/plugin/inject.hpp"
#include "trace/collect/plugin/ranges.hpp"
#include "trace/collect/plugin/raw_writer.hpp"

namespace hone::trace::inject {
namespace {

/// Wide texts are rare; their characters outside ASCII become question marks.
std::string narrow(const wchar_t* text) {
  std::string result;
  for (; text != nullptr && *text != 0; ++text) result += *text < 0x80 ? static_cast<char>(*text) : '?';
  return result;
}

uint32_t id_of(const char* text) { return text_id(text == nullptr ? "" : text); }
uint32_t id_of(const wchar_t* text) { return text_id(narrow(text)); }

// Handles of registered strings and domains are text ids.
template <class Handle>
uint32_t id_of_handle(Handle handle) {
  return static_cast<uint32_t>(reinterpret_cast<uintptr_t>(handle));
}

uint32_t id_of(const nvtxEventAttributes_t* event) {
  if (event == nullptr) return text_id("");
  switch (event->messageType) {
    case NVTX_MESSAGE_TYPE_ASCII: return id_of(event->message.ascii);
    case NVTX_MESSAGE_TYPE_UNICODE: return id_of(event->message.unicode);
    case NVTX_MESSAGE_TYPE_REGISTERED: return id_of_handle(event->message.registered);
    default: return text_id("");
  }
}

template <class Text>
int NVTX_API push(Text text) {
  return push_range(0, id_of(text));
}
int NVTX_API pop() { return pop_range(0); }
template <class Text>
nvtxRangeId_t NVTX_API start(Text text) {
  return start_range(id_of(text));
}
void NVTX_API end(nvtxRangeId_t id) { end_range(id); }

int NVTX_API domain_push(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* event) {
  return push_range(id_of_handle(domain), id_of(event));
}
int NVTX_API domain_pop(nvtxDomainHandle_t domain) { return pop_range(id_of_handle(domain)); }
nvtxRangeId_t NVTX_API domain_start(nvtxDomainHandle_t, const nvtxEventAttributes_t* event) {
  return start_range(id_of(event));
}
void NVTX_API domain_end(nvtxDomainHandle_t, nvtxRangeId_t id) { end_range(id); }

template <class Text>
nvtxStringHandle_t NVTX_API register_string(nvtxDomainHandle_t, Text text) {
  return reinterpret_cast<nvtxStringHandle_t>(static_cast<uintptr_t>(id_of(text)));
}
template <class Text>
nvtxDomainHandle_t NVTX_API create_domain(Text text) {
  return reinterpret_cast<nvtxDomainHandle_t>(static_cast<uintptr_t>(id_of(text)));
}

template <class Text>
void NVTX_API name_thread(uint32_t thread, Text text) {
  raw::ThreadName record;
  record.thread = thread;
  record.name = id_of(text);
  Batch batch;
  batch.add(record);
  append(batch);
}

class FunctionTable {
 public:
  FunctionTable(const NvtxExportTableCallbacks& callbacks, NvtxCallbackModule module) {
    if (callbacks.GetModuleFunctionTable(module, &table_, &size_) == 0) size_ = 0;
  }
  template <class F>
  void set(uint32_t id, F function) {
    if (id < size_) *table_[id] = reinterpret_cast<NvtxFunctionPointer>(function);
  }

 private:
  NvtxFunctionTable table_ = nullptr;
  unsigned int size_ = 0;
};

}  // namespace
}  // namespace hone::trace::inject

// NOLINTNEXTLINE(readability-identifier-naming): NVTX looks for this name
extern "C" __attribute__((visibility("default"))) int InitializeInjectionNvtx2(
    NvtxGetExportTableFunc_t get_table) {
  using namespace hone::trace::inject;
  if (!start_recording()) return 0;
  const auto* callbacks = static_cast<const NvtxExportTableCallbacks*>(get_table(NVTX_ETID_CALLBACKS));
  if (callbacks == nullptr) return 0;
  FunctionTable core(*callbacks, NVTX_CB_MODULE_CORE);
  core.set(NVTX_CBID_CORE_RangePushA, push<const char*>);
  core.set(NVTX_CBID_CORE_RangePushW, push<const wchar_t*>);
  core.set(NVTX_CBID_CORE_RangePushEx, push<const nvtxEventAttributes_t*>);
  core.set(NVTX_CBID_CORE_RangePop, pop);
  core.set(NVTX_CBID_CORE_RangeStartA, start<const char*>);
  core.set(NVTX_CBID_CORE_RangeStartW, start<const wchar_t*>);
  core.set(NVTX_CBID_CORE_RangeStartEx, start<const nvtxEventAttributes_t*>);
  core.set(NVTX_CBID_CORE_RangeEnd, end);
  core.set(NVTX_CBID_CORE_NameOsThreadA, name_thread<const char*>);
  core.set(NVTX_CBID_CORE_NameOsThreadW, name_thread<const wchar_t*>);
  FunctionTable core2(*callbacks, NVTX_CB_MODULE_CORE2);
  core2.set(NVTX_CBID_CORE2_DomainRangePushEx, domain_push);
  core2.set(NVTX_CBID_CORE2_DomainRangePop, domain_pop);
  core2.set(NVTX_CBID_CORE2_DomainRangeStartEx, domain_start);
  core2.set(NVTX_CBID_CORE2_DomainRangeEnd, domain_end);
  core2.set(NVTX_CBID_CORE2_DomainRegisterStringA, register_string<const char*>);
  core2.set(NVTX_CBID_CORE2_DomainRegisterStringW, register_string<const wchar_t*>);
  core2.set(NVTX_CBID_CORE2_DomainCreateA, create_domain<const char*>);
  core2.set(NVTX_CBID_CORE2_DomainCreateW, create_domain<const wchar_t*>);
  return 1;
}
