// See dlpack.hpp.
#include "tensor/dlpack.hpp"

#include <algorithm>
#include <limits>
#include <memory>

#include "base/checked.hpp"
#include "base/error.hpp"

namespace hone::tensor {
namespace {

constexpr uint32_t kMajor = 1;
constexpr uint32_t kMinor = 0;
constexpr uint64_t kReadOnly = 1;
/// More than any array library supports.
constexpr int32_t kMaxRank = 64;

enum DeviceType : int32_t { kCpu = 1, kCuda = 2, kCudaHost = 3, kCudaManaged = 13 };
enum TypeCode : uint8_t { kInt = 0, kUInt = 1, kFloat = 2, kBfloat = 4, kBool = 6 };

struct TypeRow {
  DType dtype;
  TypeCode code;
  uint8_t bits;
};

constexpr TypeRow kTypes[] = {
    {DType::kFloat32, kFloat, 32},   {DType::kFloat16, kFloat, 16}, {DType::kFloat64, kFloat, 64},
    {DType::kBFloat16, kBfloat, 16}, {DType::kInt8, kInt, 8},       {DType::kInt16, kInt, 16},
    {DType::kInt32, kInt, 32},       {DType::kInt64, kInt, 64},     {DType::kUInt8, kUInt, 8},
    {DType::kUInt16, kUInt, 16},     {DType::kUInt32, kUInt, 32},   {DType::kUInt64, kUInt, 64},
    {DType::kBool, kBool, 8}};

DType dtype_of(DLDataType type) {
  for (const TypeRow& row : kTypes) {
    if (row.code == type.code && row.bits == type.bits && type.lanes == 1) return row.dtype;
  }
  fail_usage("a DLPack tensor has elements of type code {}, {} bits and {} lanes, which are not supported",
             type.code, type.bits, type.lanes);
}

DLDataType type_of(DType dtype) {
  for (const TypeRow& row : kTypes) {
    if (row.dtype == dtype) return {row.code, row.bits, 1};
  }
  fail_usage("DLPack has no element type {}", dtype_name(dtype));
}

Place place_of(DLDevice device) {
  switch (device.device_type) {
    case kCpu:
    case kCudaHost: return {};
    case kCuda:
    case kCudaManaged: return {PlaceKind::kCuda, device.device_id};
    default: break;
  }
  fail_usage("a DLPack tensor is on a device of type {}, which is neither the host nor a CUDA GPU",
             device.device_type);
}

DLDevice device_of(Place place) { return {place.kind == PlaceKind::kCuda ? kCuda : kCpu, place.ordinal}; }

/// Converts everything except the owner.
TensorView view_of_dl(const DLTensor& from, bool read_only) {
  if (from.ndim < 0 || from.ndim > kMaxRank) fail_usage("a DLPack tensor has {} dimensions", from.ndim);
  TensorView view{.dtype = dtype_of(from.dtype), .read_only = read_only};
  view.shape.assign(from.shape, from.shape + from.ndim);
  if (std::any_of(view.shape.begin(), view.shape.end(), [](int64_t size) { return size < 0; }))
    fail_usage("a DLPack tensor has the shape {}", shape_text(view.shape));
  if (from.strides != nullptr) view.strides.assign(from.strides, from.strides + from.ndim);
  view.buffer.place = place_of(from.device);
  if (from.data != nullptr) view.buffer.data = static_cast<std::byte*>(from.data) + from.byte_offset;
  // DLPack does not give the size of the memory, so it is the size of the elements.
  view.buffer.bytes = std::numeric_limits<int64_t>::max();
  view.buffer.bytes = extent(view, "a DLPack tensor");
  return view;
}

template <class Managed>
TensorView owned(Managed* managed, bool read_only) {
  TensorView view = view_of_dl(managed->dl_tensor, read_only);
  view.buffer.owner = std::shared_ptr<const void>(managed, [managed](const void*) {
    if (managed->deleter != nullptr) managed->deleter(managed);
  });
  return view;
}

/// A managed tensor and the data that it points to.
template <class Managed>
struct Exported {
  Managed managed{};
  TensorView view;
  Shape strides;
};

template <class Managed>
Managed* exported(const TensorView& view) {
  auto made = std::make_unique<Exported<Managed>>();
  made->view = view;
  // Readers from before version 1.2 may not accept null.
  made->strides = view.strides.empty() ? row_major_strides(view.shape) : view.strides;
  Managed& managed = made->managed;
  managed.dl_tensor = {.data = view.data(),
                       .device = device_of(view.buffer.place),
                       .ndim = static_cast<int32_t>(view.shape.size()),
                       .dtype = type_of(view.dtype),
                       .shape = made->view.shape.data(),
                       .strides = made->strides.data(),
                       .byte_offset = 0};
  managed.manager_ctx = made.get();
  managed.deleter = [](Managed* self) { delete static_cast<Exported<Managed>*>(self->manager_ctx); };
  return &made.release()->managed;
}

}  // namespace

TensorView from_dlpack(DLManagedTensorVersioned* managed) {
  if (managed->version.major != kMajor)
    fail_usage("a DLPack tensor is of version {}.{}, this program reads version {}", managed->version.major,
               managed->version.minor, kMajor);
  return owned(managed, (managed->flags & kReadOnly) != 0);
}

TensorView from_dlpack(DLManagedTensor* managed) { return owned(managed, false); }

DLManagedTensorVersioned* to_dlpack(const TensorView& view) {
  DLManagedTensorVersioned* managed = exported<DLManagedTensorVersioned>(view);
  managed->version = {kMajor, kMinor};
  managed->flags = view.read_only ? kReadOnly : 0;
  return managed;
}

DLManagedTensor* to_unversioned_dlpack(const TensorView& view) {
  if (view.read_only) fail_usage("read-only memory needs DLPack's versioned struct, which can say so");
  return exported<DLManagedTensor>(view);
}

void* dlpack_stream(int64_t number) {
  if (number == 0)
    fail_usage("DLPack's stream 0 could be two streams: 1 is the legacy default stream, 2 that of a thread");
  if (number < 0) fail_usage("DLPack's stream {} is none", number);
  return reinterpret_cast<void*>(static_cast<intptr_t>(number));
}

}  // namespace hone::tensor
