// Tensors at the border of the library: dense, row-major, in host memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "hone/error.hpp"

namespace hone {

/// Element types, numbered as in ONNX. float16 and bfloat16 are passed as their 16 bits.
enum class DataType : uint8_t {
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

/// The element type that a C++ type stands for.
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

/// A caller's buffer, read while a call lasts. `bytes` has to hold exactly the elements of `dims`.
struct TensorView {
  TensorView(std::span<const std::byte> bytes, DataType type, Dims dims)
      : bytes(bytes), type(type), dims(std::move(dims)) {}
  template <class T>
  TensorView(std::span<const T> elements, Dims dims)
      : TensorView(std::as_bytes(elements), DataTypeOf<T>::kType, std::move(dims)) {}

  std::span<const std::byte> bytes;
  DataType type;
  Dims dims;
};

/// A result, which owns its elements; copies share them.
struct Tensor {
  DataType type;
  Dims dims;
  std::span<const std::byte> bytes;
  std::shared_ptr<const void> owner;

  /// Usage error when T is not the element type.
  template <class T>
  std::span<const T> elements() const {
    if (type != DataTypeOf<T>::kType)
      throw Error(ErrorKind::kUsage, "the tensor is asked for elements of another type than it has");
    return {reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T)};
  }
};

/// What an engine takes or gives.
struct TensorInfo {
  std::string name;
  DataType type;
  /// -1 stands for a dimension that is open. Empty as well when not even the rank is known.
  Dims dims;
};

}  // namespace hone
