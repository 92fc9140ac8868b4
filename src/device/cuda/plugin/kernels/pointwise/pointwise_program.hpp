// Chains of elementwise operations with broadcasting as data, and the generation of their CUDA source.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hone::device::cuda {

/// Element types in memory. Floating types are computed in float, integer types in int64, kBool as bool.
enum class Storage : uint8_t {
  kFloat,
  kHalf,
  kBfloat16,
  kBool,
  kInt8,
  kUint8,
  kInt16,
  kUint16,
  kInt32,
  kUint32,
  kInt64
};

size_t storage_bytes(Storage type);

/// One operation. Values are numbered: first the operands, then the results of the steps in order.
struct PointwiseStep {
  /// A name in the table of pointwise_operations.cpp: that of ONNX, or of a ChainOp if ONNX has none.
  std::string operation;
  std::vector<int> arguments;
  double alpha = 0;
  double beta = 0;
  /// The type to which "Cast" casts.
  Storage to = Storage::kFloat;
};

struct PointwiseProgram {
  std::vector<Storage> operands;
  std::vector<PointwiseStep> steps;
  /// Values that are written, and the element types in which they are stored.
  std::vector<int> results;
  std::vector<Storage> outputs;
};

/// The places of elements. Outputs are dense and row-major over `sizes`. Dimensions are in memory order: N,
/// pixels, C for channels-last images.
struct PointwiseGeometry {
  std::vector<int64_t> sizes;
  /// For each operand and dimension, in elements; 0 if it is broadcast.
  std::vector<std::vector<int64_t>> strides;
  /// True if all pointers will be multiples of 16 bytes.
  bool aligned = true;
};

struct PointwiseSource {
  /// The source of kernel `pointwise`. It is equal for equal
  /// programs whose geometries differ only in numbers.
  std::string text;
  /// The value of the kernel's last parameter.
  std::vector<int64_t> geometry;
  /// The number of threads that have work.
  int64_t units = 0;
  /// 16 if pointers must be multiples of 16 bytes, otherwise 1.
  size_t alignment = 1;
};

/// Throws std::invalid_argument with the step's name for an unknown operation, a wrong number of arguments,
/// or arguments of different kinds.
PointwiseSource pointwise_source(const PointwiseProgram& program, const PointwiseGeometry& geometry);

/// An operation is one line of a table. Its expression is C++ with arguments x, y, z of type T and constants
/// a and b (alpha and beta).
struct PointwiseOperation {
  enum class Kind : uint8_t {
    kFloat,    ///< float arguments, float result
    kNumber,   ///< float or int64 arguments, result of the same type
    kCompare,  ///< two numbers, bool result
    kTest,     ///< float, bool result
    kLogic,    ///< bool arguments, bool result
    kBits,     ///< int64 arguments, int64 result
    kSelect,   ///< bool x, numbers y and z
    kCast      ///< any argument, result of type PointwiseStep::to
  };
  std::string_view name;
  /// 0 means any number from one on, folded from the left.
  int arity;
  Kind kind;
  std::string_view expression;
};

std::span<const PointwiseOperation> pointwise_operations();
/// Null for an unknown name.
const PointwiseOperation* find_pointwise_operation(std::string_view name);

}  // namespace hone::device::cuda
