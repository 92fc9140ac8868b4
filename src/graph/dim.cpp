// See dim.hpp.
#include "graph/dim.hpp"

#include <algorithm>

#include "base/checked.hpp"

namespace hone::graph {
namespace {

int64_t checked_difference(int64_t a, int64_t b) {
  int64_t result;
  if (__builtin_sub_overflow(a, b, &result)) fail_bad_input("size {} - {} overflows", a, b);
  return result;
}

int64_t checked_quotient(int64_t a, int64_t b) {
  if (a == INT64_MIN && b == -1) fail_bad_input("size {} / {} overflows", a, b);
  return a / b;
}

}  // namespace

Dim operator+(const Dim& a, const Dim& b) {
  if (a.known() && b.known()) return base::checked_add(a.value(), b.value());
  if (a.is(0)) return b;
  if (b.is(0)) return a;
  return {};
}

Dim operator-(const Dim& a, const Dim& b) {
  if (a.known() && b.known()) return checked_difference(a.value(), b.value());
  if (b.is(0)) return a;
  if (a.same_as(b)) return 0;
  return {};
}

Dim operator*(const Dim& a, const Dim& b) {
  if (a.known() && b.known()) return base::checked_mul(a.value(), b.value());
  if (a.is(0) || b.is(0)) return 0;
  if (a.is(1)) return b;
  if (b.is(1)) return a;
  return {};
}

Dim operator/(const Dim& a, const Dim& b) {
  if (b.is(0)) fail_bad_input("a dimension is divided by zero");
  if (a.known() && b.known()) return checked_quotient(a.value(), b.value());
  if (b.is(1)) return a;
  if (a.same_as(b)) return 1;
  return {};
}

Dims broadcast_dims(const Dims& a, const Dims& b) {
  const size_t rank = std::max(a.size(), b.size());
  Dims result(rank);
  for (size_t i = 0; i < rank; ++i) {
    const Dim da = i + a.size() < rank ? Dim(1) : a[i + a.size() - rank];
    const Dim db = i + b.size() < rank ? Dim(1) : b[i + b.size() - rank];
    if (da.is(1)) {
      result[i] = db;
    } else if (db.is(1) || da.same_as(db)) {
      result[i] = da;
    } else if (da.known() && db.known()) {
      fail_bad_input("shapes {} and {} do not broadcast", dims_text(a), dims_text(b));
    } else if (da.known() || db.known()) {
      result[i] = da.known() ? da : db;  // the other dimension is 1 or equal
    }
  }
  return result;
}

std::string dims_text(const Dims& dims) {
  if (dims.empty()) return "scalar";
  std::string text;
  for (const Dim& dim : dims) text += (text.empty() ? "" : "x") + dim.text();
  return text;
}

bool all_known(const Dims& dims) {
  return std::all_of(dims.begin(), dims.end(), [](const Dim& dim) { return dim.known(); });
}

}  // namespace hone::graph
