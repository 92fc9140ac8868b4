// One dimension of a tensor type: a number, a named symbol (equal names are equal dimensions), or unknown.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace hone::graph {

class Dim {
 public:
  /// Unknown.
  Dim() = default;
  Dim(int64_t value)
      : known_(true), value_(value) {}  // NOLINT(google-explicit-constructor): a number is a dimension
  static Dim symbol(std::string name) {
    Dim dim;
    dim.symbol_ = std::move(name);
    return dim;
  }

  bool known() const { return known_; }
  /// Valid only if known(). Negative in shape data (the -1 of a Reshape), never in a shape.
  int64_t value() const { return value_; }
  /// Empty unless the dimension is a symbol.
  const std::string& symbol() const { return symbol_; }
  bool is(int64_t value) const { return known_ && value_ == value; }
  /// True if both are certainly the same number; two unknown dimensions are not.
  bool same_as(const Dim& other) const {
    if (known_ || other.known_) return known_ && other.known_ && value_ == other.value_;
    return !symbol_.empty() && symbol_ == other.symbol_;
  }
  /// "224", "batch", "?".
  std::string text() const {
    if (known()) return std::to_string(value_);
    return symbol_.empty() ? "?" : symbol_;
  }

 private:
  bool known_ = false;
  int64_t value_ = 0;
  std::string symbol_;
};

/// Sum, difference, product and floor quotient; unknown unless the result is a number or an unchanged symbol.
/// Throws bad input on overflow and on division by zero.
Dim operator+(const Dim& a, const Dim& b);
Dim operator-(const Dim& a, const Dim& b);
Dim operator*(const Dim& a, const Dim& b);
Dim operator/(const Dim& a, const Dim& b);

using Dims = std::vector<Dim>;

/// Broadcasting as in numpy; throws bad input if two known dimensions cannot be broadcast.
Dims broadcast_dims(const Dims& a, const Dims& b);
/// "1x3x224x224", "batchx3x?x?"; "scalar" for rank 0.
std::string dims_text(const Dims& dims);
bool all_known(const Dims& dims);

}  // namespace hone::graph
