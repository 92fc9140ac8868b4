// Chains of elementwise operations with broadcasting, as data, and the CUDA source that computes them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hone::device::cuda {

/// Element types in memory. Floating types are computed in float, integers in int64, kBool as bool.
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

/// One operation. Values are numbered: the operands first, then the results of the steps in order.
struct PointwiseStep {
  /// A name of the table in pointwise_operations.cpp: ONNX names, and those of ChainOp without one.
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
  /// Values that are written, and the element types they get.
  std::vector<int> results;
  std::vector<Storage> outputs;
};

/// The places of elements. Outputs are dense, row-major over `sizes`; list dimensions in the order of the
/// memory, for channels-last images N, pixels, C.
struct PointwiseGeometry {
  std::vector<int64_t> sizes;
  /// Per operand and dimension, in elements; 0 where it broadcasts.
  std::vector<std::vector<int64_t>> strides;
  /// All pointers will be multiples of 16 bytes.
  bool aligned = true;
};

struct PointwiseSource {
  /// Kernel `pointwise`; equal for equal programs whose geometries differ in numbers only.
  std::string text;
  /// The kernel's last parameter.
  std::vector<int64_t> geometry;
  /// Threads that have work.
  int64_t units = 0;
  /// 16 when pointers must be aligned to that, else 1.
  size_t alignment = 1;
};

/// Throws std::invalid_argument naming the step for an unknown operation, a wrong number of arguments or
/// arguments of different kinds.
PointwiseSource pointwise_source(const PointwiseProgram& program, const PointwiseGeometry& geometry);

/// An operation is one line of a table. The expression is C++ over arguments x, y, z of type T and constants
/// a, b (alpha, beta).
struct PointwiseOperation {
  enum class Kind : uint8_t {
    kFloat,    ///< float arguments, float result
    kNumber,   ///< float or int64 arguments, result alike
    kCompare,  ///< two numbers, bool result
    kTest,     ///< float, bool result
    kLogic,    ///< bool arguments, bool result
    kBits,     ///< int64 arguments, result alike
    kSelect,   ///< bool x, numbers y and z
    kCast      ///< anything, result as PointwiseStep::to
  };
  std::string_view name;
  /// 0: any number from one, folded from the left.
  int arity;
  Kind kind;
  std::string_view expression;
};

std::span<const PointwiseOperation> pointwise_operations();
/// Null for an unknown name.
const PointwiseOperation* find_pointwise_operation(std::string_view name);

}  // namespace hone::device::cuda
