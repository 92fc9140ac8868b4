// See tensor_reader.hpp.
#include "graph/text/tensor_reader.hpp"

#include <charconv>
#include <cmath>

#include "base/checked.hpp"
#include "base/random.hpp"
#include "tensor/convert.hpp"
#include "tensor/shape.hpp"

namespace hone::graph {
namespace {

using tensor::Shape;

constexpr size_t kMaxRank = 64;

/// The value of a number token; also of "true" and "false" for bool, and "nan" and "inf" for floating types.
template <class T>
T number_of(const Token& token) {
  constexpr std::string_view kType = [] { return std::is_same_v<T, bool> ? "true or false" : "a number"; }();
  if (token.kind != Token::Kind::kNumber && token.kind != Token::Kind::kWord)
    token.fail("{} is expected, not {}", kType, token.shown());
  if constexpr (std::is_same_v<T, bool>) {
    if (!token.is("true") && !token.is("false")) token.fail("{} is expected, not {}", kType, token.shown());
    return token.is("true");
  } else if constexpr (std::is_same_v<T, tensor::Half> || std::is_same_v<T, tensor::BFloat16>) {
    const auto wide = number_of<float>(token);
    const T value(wide);
    if (std::isfinite(wide) && !std::isfinite(static_cast<float>(value)))
      token.fail("{} is out of the range of {}", token.text, tensor::dtype_name(tensor::DTypeOf<T>::value));
    return value;
  } else {
    T value{};
    const char* const end = token.text.data() + token.text.size();
    const auto [stop, error] = std::from_chars(token.text.data(), end, value);
    const auto type = tensor::dtype_name(tensor::DTypeOf<T>::value);
    if (error == std::errc::result_out_of_range) token.fail("{} is out of the range of {}", token.text, type);
    if (error != std::errc() || stop != end) token.fail("{} is no number of type {}", token.shown(), type);
    return value;
  }
}

Dim read_dim(Lexer& lexer) {
  if (lexer.accept("?")) return {};
  const Token token = lexer.take();
  if (token.kind == Token::Kind::kWord) return Dim::symbol(token.text);
  if (token.kind == Token::Kind::kString && !token.text.empty()) return Dim::symbol(token.text);
  if (token.kind != Token::Kind::kNumber) token.fail("a dimension is expected, not {}", token.shown());
  const auto size = number_of<int64_t>(token);
  if (size < 0) token.fail("dimension {} is negative", size);
  return size;
}

DType read_dtype(Lexer& lexer) {
  const Token word = lexer.expect(Token::Kind::kWord, "an element type");
  for (int i = 0; i <= static_cast<int>(DType::kBFloat16); ++i) {
    if (tensor::dtype_name(static_cast<DType>(i)) == word.text) return static_cast<DType>(i);
  }
  word.fail("element type {} is not known", word.shown());
}

template <class T>
std::vector<T> read_list(Lexer& lexer) {
  std::vector<T> list;
  lexer.expect("[");
  if (lexer.accept("]")) return list;
  do list.push_back(number_of<T>(lexer.take()));
  while (lexer.accept(","));
  lexer.expect("]");
  return list;
}

/// A tensor that the text describes without spelling it out, if the budget allows it.
Tensor described_tensor(const Token& where, DType dtype, const Shape& shape, TextBudget& budget) {
  const int64_t bytes =
      base::checked_mul(tensor::element_count(shape), static_cast<int64_t>(tensor::dtype_size(dtype)));
  if (bytes > budget.bytes)
    where.fail("this constant takes {} bytes, and {} are left for those that the text does not spell out",
               bytes, budget.bytes);
  budget.bytes -= bytes;
  return {dtype, shape};
}

/// The sum of twelve uniform numbers minus its mean. It uses no function of libm, whose results might differ
/// between machines.
double nearly_normal(base::Random& random) {
  double sum = -6;
  for (int i = 0; i < 12; ++i) sum += random.uniform();
  return sum;
}

template <class T>
T seeded_element(base::Random& random) {
  const double value = nearly_normal(random);
  if constexpr (std::is_same_v<T, bool>) {
    return value > 0;
  } else if constexpr (std::is_integral_v<T>) {
    return tensor::convert<T>(16 * (std::is_signed_v<T> ? value : std::abs(value)));
  } else {
    return tensor::convert<T>(value);
  }
}

template <class T>
void fill(Tensor& tensor, T value) {
  for (T& element : tensor.mutable_values<T>()) element = value;
}

/// Skips the checksum of an elided tensor, which is only for readers of the text.
void skip_checksum(Lexer& lexer) {
  if (!lexer.accept("crc32")) return;
  lexer.expect("(");
  lexer.expect(Token::Kind::kNumber, "a checksum");
  lexer.expect(")");
}

template <class T>
Tensor read_elements(Lexer& lexer, DType dtype, const Shape& shape, TextBudget& budget) {
  const Token first = lexer.next();
  if (lexer.accept("fill")) {
    lexer.expect("(");
    const T value = number_of<T>(lexer.take());
    lexer.expect(")");
    Tensor tensor = described_tensor(first, dtype, shape, budget);
    fill(tensor, value);
    return tensor;
  }
  if (lexer.accept("seeded")) {
    lexer.expect("(");
    base::Random random(number_of<uint64_t>(lexer.take()));
    lexer.expect(")");
    Tensor tensor = described_tensor(first, dtype, shape, budget);
    for (T& element : tensor.mutable_values<T>()) element = seeded_element<T>(random);
    return tensor;
  }
  if (lexer.accept("...")) {
    skip_checksum(lexer);
    if (budget.keep_elided) return {dtype, shape, nullptr, nullptr};
    if (!budget.elided_fill)
      first.fail("the elements of this constant were left out when the text was written");
    Tensor tensor = described_tensor(first, dtype, shape, budget);
    fill(tensor, tensor::convert<T>(*budget.elided_fill));
    return tensor;
  }
  const bool scalar = shape.empty() && !first.is("[");
  const auto elements = scalar ? std::vector<T>{number_of<T>(lexer.take())} : read_list<T>(lexer);
  const int64_t count = tensor::element_count(shape);
  if (static_cast<int64_t>(elements.size()) != count)
    first.fail("{} elements for shape {}, which has {}", elements.size(), tensor::shape_text(shape), count);
  return Tensor::of<T>(elements, shape);
}

}  // namespace

int64_t read_int(Lexer& lexer) { return number_of<int64_t>(lexer.take()); }
float read_float(Lexer& lexer) { return number_of<float>(lexer.take()); }

TensorType read_type(Lexer& lexer) {
  TensorType type{read_dtype(lexer), std::nullopt};
  lexer.expect("[");
  if (lexer.accept("*")) {
    lexer.expect("]");
    return type;
  }
  type.dims.emplace();
  if (lexer.accept("]")) return type;
  do {
    if (type.dims->size() == kMaxRank) lexer.next().fail("a type has more than {} dimensions", kMaxRank);
    type.dims->push_back(read_dim(lexer));
  } while (lexer.accept(","));
  lexer.expect("]");
  return type;
}

Tensor read_tensor(Lexer& lexer, TextBudget& budget) {
  const Token where = lexer.next();
  const TensorType type = read_type(lexer);
  if (!type.fully_known()) where.fail("the shape of a constant has to be known, and this is {}", type.text());
  if (!tensor::is_supported(type.dtype))
    where.fail("a constant cannot be of {}", tensor::dtype_name(type.dtype));
  Shape shape;
  for (const Dim& dim : *type.dims) shape.push_back(dim.value());
  try {
    return tensor::visit_dtype(type.dtype,
                               [&]<class T>() { return read_elements<T>(lexer, type.dtype, shape, budget); });
  } catch (const Error& error) {
    // Errors about sizes that overflow have no location.
    if (error.where().empty()) throw error.within(where.where());
    throw;
  }
}

}  // namespace hone::graph
