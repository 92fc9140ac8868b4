// Checks of element types and shapes that operator table entries share.
#pragma once

#include "graph/operator.hpp"

namespace hone::graph {

/// Requires that input i is absent, of unknown type, or floating-point.
inline void require_floating(const InferenceContext& context, size_t i) {
  const DType dtype = context.dtype(i);
  context.require(dtype == DType::kUndefined || tensor::is_floating(dtype),
                  "input {} has type {}, expected a floating-point type", i, tensor::dtype_name(dtype));
}

/// Requires that inputs i and j have the same type, unless one is absent or unknown.
inline void require_same_dtype(const InferenceContext& context, size_t i, size_t j) {
  const DType a = context.dtype(i);
  const DType b = context.dtype(j);
  context.require(a == b || a == DType::kUndefined || b == DType::kUndefined,
                  "inputs {} and {} have types {} and {}", i, j, tensor::dtype_name(a),
                  tensor::dtype_name(b));
}

/// Requires that input i is absent, of unknown type, or of one of these types.
inline void require_dtype(const InferenceContext& context, size_t i, std::initializer_list<DType> allowed) {
  const DType dtype = context.dtype(i);
  bool found = dtype == DType::kUndefined;
  for (const DType candidate : allowed) found = found || candidate == dtype;
  context.require(found, "input {} has type {}, which is not supported", i, tensor::dtype_name(dtype));
}

/// Requires that input i, if present and ranked, has these dimensions as far as they are known.
inline void expect_dims(const InferenceContext& context, size_t i, const Dims& expected) {
  if (!context.has_input(i) || !context.ranked(i)) return;
  const Dims& dims = context.dims(i);
  bool fits = dims.size() == expected.size();
  for (size_t k = 0; fits && k < dims.size(); ++k) {
    fits = !dims[k].known() || !expected[k].known() || dims[k].same_as(expected[k]);
  }
  context.require(fits, "input {} has shape {}, expected {}", i, dims_text(dims), dims_text(expected));
}

/// Dimension `axis` of input i; unknown if the input is absent or its rank is unknown or too small.
inline Dim dim_of(const InferenceContext& context, size_t i, size_t axis) {
  return context.ranked(i) && context.dims(i).size() > axis ? context.dims(i)[axis] : Dim();
}

}  // namespace hone::graph
