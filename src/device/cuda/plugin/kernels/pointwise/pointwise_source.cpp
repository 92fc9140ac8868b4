// Writes the CUDA source of a chain. See pointwise_program.hpp.
#include <algorithm>
#include <bit>
#include <set>
#include <stdexcept>
#include <utility>

#include "device/cuda/plugin/kernels/pointwise/pointwise_prelude.hpp"
#include "device/cuda/plugin/kernels/pointwise/pointwise_program.hpp"

namespace hone::device::cuda {
namespace {

using Kind = PointwiseOperation::Kind;
/// The type in which a value is computed.
enum class Class : uint8_t { kFloat, kInteger, kBool };

struct StorageInfo {
  const char* name;
  size_t bytes;
  Class computed;
};

StorageInfo info(Storage type) {
  static constexpr StorageInfo kInfos[] = {
      {"float", 4, Class::kFloat},         {"half_t", 2, Class::kFloat},
      {"bfloat16_t", 2, Class::kFloat},    {"bool", 1, Class::kBool},
      {"signed char", 1, Class::kInteger}, {"unsigned char", 1, Class::kInteger},
      {"short", 2, Class::kInteger},       {"unsigned short", 2, Class::kInteger},
      {"int", 4, Class::kInteger},         {"unsigned int", 4, Class::kInteger},
      {"int64", 8, Class::kInteger}};
  return kInfos[static_cast<size_t>(type)];
}

const char* class_name(Class type) {
  return type == Class::kFloat ? "float" : type == Class::kInteger ? "int64" : "bool";
}

/// Drops dimensions of size 1 and merges adjacent dimensions that every operand strides through as one. At
/// least one dimension is left.
PointwiseGeometry collapse(const PointwiseGeometry& geometry) {
  PointwiseGeometry result{{}, std::vector<std::vector<int64_t>>(geometry.strides.size()), geometry.aligned};
  for (size_t d = 0; d < geometry.sizes.size(); ++d) {
    const int64_t size = geometry.sizes[d];
    if (size == 1) continue;
    bool merges = !result.sizes.empty();
    for (size_t i = 0; merges && i < geometry.strides.size(); ++i)
      merges = result.strides[i].back() == geometry.strides[i][d] * size;
    if (merges) {
      result.sizes.back() *= size;
    } else {
      result.sizes.push_back(size);
    }
    for (size_t i = 0; i < geometry.strides.size(); ++i) {
      if (merges) result.strides[i].pop_back();
      result.strides[i].push_back(geometry.strides[i][d]);
    }
  }
  if (!result.sizes.empty()) return result;
  result.sizes = {1};
  for (auto& strides : result.strides) strides = {0};
  return result;
}

bool is_dense(const std::vector<int64_t>& sizes, const std::vector<int64_t>& strides) {
  int64_t expected = 1;
  for (size_t d = sizes.size(); d-- > 0; expected *= sizes[d]) {
    if (strides[d] != expected) return false;
  }
  return true;
}

/// The number of adjacent elements along the last dimension that one thread computes: a power of two, at most
/// 16 bytes of the narrowest type that is read or written in runs.
int64_t vector_width(const PointwiseProgram& program, const PointwiseGeometry& geometry) {
  if (!geometry.aligned) return 1;
  size_t narrowest = 8;
  for (const Storage type : program.outputs) narrowest = std::min(narrowest, info(type).bytes);
  int64_t width = static_cast<int64_t>(std::min<size_t>(16 / narrowest, 8));
  while (width > 1 && geometry.sizes.back() % width != 0) width /= 2;
  for (const auto& strides : geometry.strides) {
    if (strides.back() != 0 && strides.back() != 1) return 1;
    for (size_t d = 0; strides.back() == 1 && d + 1 < strides.size(); ++d) {
      while (width > 1 && strides[d] % width != 0) width /= 2;
    }
  }
  return width;
}

class Writer {
 public:
  Writer(const PointwiseProgram& program, const PointwiseGeometry& geometry)
      : program_(program), geometry_(collapse(geometry)), width_(vector_width(program, geometry_)) {
    for (const auto& strides : geometry_.strides) dense_.push_back(is_dense(geometry_.sizes, strides));
    walks_ = std::any_of(geometry_.strides.begin(), geometry_.strides.end(),
                         [&](const auto& strides) { return !is_dense(geometry_.sizes, strides); });
    int64_t count = 1;
    for (const int64_t size : geometry_.sizes) count *= size;
    units_ = count / width_;
  }

  PointwiseSource write() {
    PointwiseSource result;
    std::string body = write_operands();
    for (const PointwiseStep& step : program_.steps) body += write_step(step);
    body += write_results();
    result.text = kPointwisePrelude + functions_ + write_head() + body + "  }\n}\n";
    result.geometry = pack();
    result.units = units_;
    result.alignment = width_ > 1 ? 16 : 1;
    return result;
  }

 private:
  static std::string number(size_t value) { return std::to_string(value); }

  std::string write_head() const {
    std::string text = "extern \"C\" __global__ void __launch_bounds__(256) pointwise(";
    for (size_t i = 0; i < program_.operands.size(); ++i)
      text += std::string("const ") + info(program_.operands[i]).name + "* in" + number(i) + ", ";
    for (size_t i = 0; i < program_.outputs.size(); ++i)
      text += std::string(info(program_.outputs[i]).name) + "* out" + number(i) + ", ";
    const char* index = units_ < (int64_t{1} << 31) ? "unsigned" : "uint64";
    text +=
        "const __grid_constant__ Geometry g, stamp_t* stamp) {\n"
        "  const running_t running(stamp);\n  begin_kernel();\n";
    text += std::string("  typedef ") + index + " Index;\n";
    text +=
        "  for (int64 unit = blockIdx.x * 256ll + threadIdx.x; unit < g.v[0]; unit += gridDim.x * 256ll) {\n";
    return "struct Geometry { int64 v[" + number(pack().size()) + "]; };\n" + text;
  }

  /// Layout: units; then size, multiplier and shift of every dimension; then the strides of every operand.
  std::vector<int64_t> pack() const {
    std::vector<int64_t> result = {units_};
    if (!walks_) return result;
    for (size_t d = 0; d < geometry_.sizes.size(); ++d) {
      const int64_t size =
          std::max<int64_t>(geometry_.sizes[d] / (d + 1 == geometry_.sizes.size() ? width_ : 1), 1);
      // Granlund and Montgomery, "Division by invariant integers using multiplication", 1994.
      uint64_t shift = 0;
      while ((int64_t{1} << shift) < size && shift < 31) ++shift;
      const auto divisor = static_cast<uint64_t>(size);
      const uint64_t multiplier = ((uint64_t{1} << 32) * ((uint64_t{1} << shift) - divisor)) / divisor + 1;
      result.insert(result.end(), {size, static_cast<int64_t>(multiplier), static_cast<int64_t>(shift)});
    }
    for (const auto& strides : geometry_.strides) {
      for (size_t d = 0; d < strides.size(); ++d)
        result.push_back(strides[d] * (d + 1 == strides.size() ? width_ : 1));
    }
    return result;
  }

  std::string write_operands() {
    std::string text;
    const size_t rank = geometry_.sizes.size();
    if (walks_) {
      text += "    Index rest = static_cast<Index>(unit);\n";
      for (size_t d = rank; d-- > 0;)
        text += "    const int64 c" + number(d) + " = take(rest, g.v + " + number(1 + 3 * d) + ");\n";
    }
    for (size_t i = 0; i < program_.operands.size(); ++i) {
      const StorageInfo type = info(program_.operands[i]);
      const std::string n = number(i);
      std::string offset = "unit * " + std::to_string(width_);
      if (!dense_[i]) {
        offset = "0";
        for (size_t d = 0; d < rank; ++d) {
          if (geometry_.strides[i][d] != 0)
            offset += " + c" + number(d) + " * g.v[" + number(1 + 3 * rank + i * rank + d) + "]";
        }
      }
      const bool runs = width_ > 1 && geometry_.strides[i].back() == 1;
      const std::string count = runs ? std::to_string(width_) : "1";
      text += std::string("    ") + type.name + " r" + n + "[" + count + "];\n";
      text += "    load<" + count + ">(in" + n + " + (" + offset + "), r" + n + ");\n";
      text += declare(type.computed, "widen(r" + n + (runs ? "[i])" : "[0])"));
    }
    return text;
  }

  /// Declares a new value, which is computed element by element.
  std::string declare(Class type, const std::string& expression) {
    const std::string n = number(classes_.size());
    const std::string width = std::to_string(width_);
    classes_.push_back(type);
    return std::string("    ") + class_name(type) + " v" + n + "[" + width +
           "];\n#pragma unroll\n    for (int i = 0; i < " + width + "; ++i) v" + n + "[i] = " + expression +
           ";\n";
  }

  [[noreturn]] static void fail(const PointwiseStep& step, const std::string& reason) {
    throw std::invalid_argument("pointwise step '" + step.operation + "': " + reason);
  }

  Class class_of(const PointwiseStep& step, size_t argument) const {
    const int value = step.arguments[argument];
    if (value < 0 || static_cast<size_t>(value) >= classes_.size())
      fail(step, "argument " + number(argument) + " is no earlier value");
    return classes_[static_cast<size_t>(value)];
  }

  /// Checks arguments against the operation and returns the class for its template.
  Class check(const PointwiseStep& step, const PointwiseOperation& operation) const {
    const size_t count = step.arguments.size();
    if (count == 0 || (operation.arity != 0 && count != static_cast<size_t>(operation.arity)))
      fail(step, "has " + number(count) + " arguments");
    const size_t first = operation.kind == Kind::kSelect ? 1 : 0;
    if (first == 1 && class_of(step, 0) != Class::kBool) fail(step, "argument 0 is no bool");
    const Class type = class_of(step, first);
    for (size_t i = first; i < count; ++i) {
      if (class_of(step, i) != type) fail(step, "arguments of different kinds");
    }
    const bool wants_bool = operation.kind == Kind::kLogic;
    const bool wants_float = operation.kind == Kind::kFloat || operation.kind == Kind::kTest;
    const bool wants_number = operation.kind == Kind::kNumber;
    const bool wants_bits = operation.kind == Kind::kBits;
    if ((wants_bool && type != Class::kBool) || (wants_float && type != Class::kFloat) ||
        (wants_number && type == Class::kBool) || (wants_bits && type != Class::kInteger)) {
      fail(step, "arguments of the wrong kind");
    }
    return type;
  }

  static std::string constant(double value, Class type) {
    if (type != Class::kFloat) return std::to_string(static_cast<int64_t>(value)) + "ll";
    return "__uint_as_float(" + std::to_string(std::bit_cast<uint32_t>(static_cast<float>(value))) + "u)";
  }

  void define(const PointwiseOperation& operation) {
    if (!defined_.insert(operation.name).second) return;
    const bool truth = operation.kind == Kind::kCompare || operation.kind == Kind::kTest;
    const std::string name(operation.name);
    functions_ += "template <class T> INLINE " + std::string(truth ? "bool" : "T") + " op_" + name + "(";
    if (operation.kind == Kind::kSelect) {
      functions_ += "bool x, T y, T z";
    } else {
      functions_ += operation.arity == 1 ? "T x" : "T x, T y";
    }
    functions_ += ", T a, T b) { return " + std::string(operation.expression) + "; }\n";
  }

  std::string write_step(const PointwiseStep& step) {
    const PointwiseOperation* operation = find_pointwise_operation(step.operation);
    if (operation == nullptr) fail(step, "is unknown");
    const Class type = check(step, *operation);
    const auto value = [&](size_t i) { return "v" + std::to_string(step.arguments[i]) + "[i]"; };
    if (operation->kind == Kind::kCast) {
      const StorageInfo to = info(step.to);
      return declare(to.computed, std::string("widen(narrow<") + to.name + ">::of(" + value(0) + "))");
    }
    define(*operation);
    const std::string tail = ", " + constant(step.alpha, type) + ", " + constant(step.beta, type) + ")";
    const std::string call = "op_" + step.operation + "<" + class_name(type) + ">(";
    std::string expression = value(0);
    if (operation->arity == 0) {
      for (size_t i = 1; i < step.arguments.size(); ++i)
        expression = call + expression + ", " + value(i) + tail;
    } else {
      for (size_t i = 1; i < step.arguments.size(); ++i) expression += ", " + value(i);
      expression = call + expression + tail;
    }
    const bool truth = operation->kind == Kind::kCompare || operation->kind == Kind::kTest;
    return declare(truth ? Class::kBool : type, expression);
  }

  std::string write_results() const {
    if (program_.results.size() != program_.outputs.size() || program_.results.empty())
      throw std::invalid_argument("a pointwise program needs an element type for every result");
    std::string text;
    const std::string width = std::to_string(width_);
    for (size_t k = 0; k < program_.results.size(); ++k) {
      const int value = program_.results[k];
      if (value < 0 || static_cast<size_t>(value) >= classes_.size())
        throw std::invalid_argument("result " + number(k) + " of a pointwise program is no value");
      const char* type = info(program_.outputs[k]).name;
      const std::string n = number(k);
      text += std::string("    ") + type + " w" + n + "[" + width +
              "];\n#pragma unroll\n    for (int i = 0; i < " + width + "; ++i) w" + n + "[i] = narrow<" +
              type + ">::of(v" + std::to_string(value) + "[i]);\n";
      text += "    store<" + width + ">(out" + n + " + unit * " + width + ", w" + n + ");\n";
    }
    return text;
  }

  const PointwiseProgram& program_;
  PointwiseGeometry geometry_;
  int64_t width_;
  int64_t units_ = 0;
  bool walks_ = false;
  std::vector<bool> dense_;
  std::vector<Class> classes_;
  std::set<std::string_view> defined_;
  std::string functions_;
};

}  // namespace

size_t storage_bytes(Storage type) { return info(type).bytes; }

PointwiseSource pointwise_source(const PointwiseProgram& program, const PointwiseGeometry& geometry) {
  if (geometry.strides.size() != program.operands.size())
    throw std::invalid_argument("a pointwise program needs strides for every operand");
  for (const auto& strides : geometry.strides) {
    if (strides.size() != geometry.sizes.size())
      throw std::invalid_argument("pointwise strides need one entry per dimension");
  }
  return Writer(program, geometry).write();
}

}  // namespace hone::device::cuda
