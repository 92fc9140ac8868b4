// Tensors at the interface of the library: views of the caller's memory, and results on the host.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "hone/error.hpp"

namespace hone {

/// Element types, numbered as in ONNX. float16 and bfloat16 are passed as their 16 bits.
enum class DataType : uint8_t {
  kUndefined = 0,  ///< of a view without a tensor
  kFloat32 = 1,
  kUInt8 = 2,
  kInt8 = 3,
  kUInt16 = 4,
  kInt16 = 5,
  kInt32 = 6,
  kInt64 = 7,
  kBool = 9,
  kFloat16 = 10,
  kFloat64 = 11,
  kUInt32 = 12,
  kUInt64 = 13,
  kBFloat16 = 16,
};

/// The element type that corresponds to a C++ type.
template <class T>
struct DataTypeOf;
// clang-format off
template <> struct DataTypeOf<float> { static constexpr DataType kType = DataType::kFloat32; };
template <> struct DataTypeOf<double> { static constexpr DataType kType = DataType::kFloat64; };
template <> struct DataTypeOf<int8_t> { static constexpr DataType kType = DataType::kInt8; };
template <> struct DataTypeOf<int16_t> { static constexpr DataType kType = DataType::kInt16; };
template <> struct DataTypeOf<int32_t> { static constexpr DataType kType = DataType::kInt32; };
template <> struct DataTypeOf<int64_t> { static constexpr DataType kType = DataType::kInt64; };
template <> struct DataTypeOf<uint8_t> { static constexpr DataType kType = DataType::kUInt8; };
template <> struct DataTypeOf<uint16_t> { static constexpr DataType kType = DataType::kUInt16; };
template <> struct DataTypeOf<uint32_t> { static constexpr DataType kType = DataType::kUInt32; };
template <> struct DataTypeOf<uint64_t> { static constexpr DataType kType = DataType::kUInt64; };
template <> struct DataTypeOf<bool> { static constexpr DataType kType = DataType::kBool; };
// clang-format on

using Dims = std::vector<int64_t>;

enum class PlaceKind : uint8_t { kCpu, kCuda };

/// A place for memory or work: the host, or a GPU.
struct Place {
  PlaceKind kind = PlaceKind::kCpu;
  /// Number of a GPU among those that CUDA shows to the process; 0 on the host.
  int32_t ordinal = 0;

  bool operator==(const Place&) const = default;
};

/// A tensor in memory that belongs to somebody else.
struct TensorView {
  /// No tensor; as an output, it means that the engine allocates one.
  TensorView() = default;
  /// A buffer on the host with exactly the elements of the dims, row-major; it is not written to.
  TensorView(std::span<const std::byte> memory, DataType element_type, Dims sizes)
      : bytes(memory), type(element_type), dims(std::move(sizes)), read_only(true) {}
  /// A view of `elements`; writable if the span is.
  template <class T>
  TensorView(std::span<T> elements, Dims sizes)
      : bytes(std::as_bytes(elements)),
        type(DataTypeOf<std::remove_const_t<T>>::kType),
        dims(std::move(sizes)),
        read_only(std::is_const_v<T>) {}
  /// Memory at any place, beginning with the first element; it is not accessed here.
  TensorView(Place where, void* memory, size_t size, DataType element_type, Dims sizes, Dims steps = {})
      : bytes(static_cast<const std::byte*>(memory), size),
        type(element_type),
        dims(std::move(sizes)),
        strides(std::move(steps)),
        place(where) {}

  /// The bytes from the first element on; for a GPU's memory, only the address is meaningful on the host.
  std::span<const std::byte> bytes;
  DataType type = DataType::kUndefined;
  Dims dims;
  /// Distance between consecutive indices of each dimension, in elements; empty if row-major.
  Dims strides;
  Place place;
  bool read_only = false;
  /// Keeps the memory alive; null if the caller does.
  std::shared_ptr<const void> owner;
};

/// A result, which owns its elements; copies share them.
struct Tensor {
  DataType type;
  Dims dims;
  std::span<const std::byte> bytes;
  std::shared_ptr<const void> owner;

  /// Usage error if T is not the element type.
  template <class T>
  std::span<const T> elements() const {
    if (type != DataTypeOf<T>::kType)
      throw Error(ErrorKind::kUsage, "the tensor is asked for elements of another type than it has");
    return {reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T)};
  }
};

/// Name, type and shape of an input or an output of an engine.
struct TensorInfo {
  std::string name;
  DataType type;
  /// -1 represents an open dimension. Also empty if even the rank is unknown.
  Dims dims;
};

}  // namespace hone
