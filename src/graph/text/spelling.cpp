// See spelling.hpp.
#include "graph/text/spelling.hpp"

#include <fmt/ranges.h>
#include <zlib.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "graph/text/lexer.hpp"

namespace hone::graph {
namespace {

/// Longest list of equal elements that is written as a list, because it is no longer than a fill.
constexpr int64_t kShortList = 4;

bool is_bare_name(std::string_view name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), is_name_part) &&
         name.find("//") == std::string_view::npos;
}

bool is_word(std::string_view text) {
  return !text.empty() && is_word_start(text[0]) && std::all_of(text.begin(), text.end(), is_word_part);
}

std::string dim_spelling(const Dim& dim) {
  const bool bare = dim.known() || dim.symbol().empty() || is_word(dim.symbol());
  return bare ? dim.text() : quoted(dim.symbol());
}

/// Shortest text of a number. 16-bit types are converted to float first, and every NaN is `nan`.
template <class T>
std::string element_spelling(T value) {
  if constexpr (std::is_same_v<T, tensor::Half> || std::is_same_v<T, tensor::BFloat16>) {
    return element_spelling(static_cast<float>(value));
  } else if constexpr (std::is_floating_point_v<T>) {
    return std::isnan(value) ? "nan" : fmt::format("{}", value);
  } else if constexpr (std::is_same_v<T, bool>) {
    return value ? "true" : "false";
  } else {
    return std::to_string(value);
  }
}

bool all_equal(const Tensor& tensor) {
  const size_t size = tensor::dtype_size(tensor.dtype());
  const std::byte* bytes = tensor.bytes();
  for (size_t i = size; i < tensor.byte_size(); i += size) {
    if (std::memcmp(bytes, bytes + i, size) != 0) return false;
  }
  return true;
}

std::string elided(const Tensor& tensor, const ElementOptions& options) {
  if (!options.checksum || tensor.bytes() == nullptr) return "...";
  const auto sum = crc32_z(0, reinterpret_cast<const Bytef*>(tensor.bytes()), tensor.byte_size());
  return fmt::format("... crc32(0x{:08x})", sum);
}

std::string elements_spelling(const Tensor& tensor, const ElementOptions& options) {
  const bool fills = tensor.bytes() != nullptr && tensor.size() > kShortList && all_equal(tensor);
  const bool listed =
      tensor.size() <= options.most_elements && (tensor.bytes() != nullptr || tensor.size() == 0);
  if (!fills && !listed) return elided(tensor, options);
  return tensor::visit_dtype(tensor.dtype(), [&]<class T>() {
    const auto values = tensor.values<T>();
    if (fills) return fmt::format("fill({})", element_spelling(values[0]));
    if (tensor.rank() == 0) return element_spelling(values[0]);
    std::string list;
    for (const T value : values) list += (list.empty() ? "" : ", ") + element_spelling(value);
    return "[" + list + "]";
  });
}

}  // namespace

std::string quoted(std::string_view text) {
  constexpr unsigned char kDelete = 0x7f;
  std::string result = "\"";
  for (size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    // U+0080 to U+009F are control characters too.
    const bool control = c == 0xc2 && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xa0;
    if (c == '"' || c == '\\') {
      result += '\\';
      result += text[i];
    } else if (c == '\n') {
      result += "\\n";
    } else if (control) {
      result += fmt::format("\\xc2\\x{:02x}", static_cast<unsigned char>(text[++i]));
    } else if (c < ' ' || c == kDelete) {
      result += fmt::format("\\x{:02x}", c);
    } else {
      result += text[i];
    }
  }
  return result + "\"";
}

std::string value_spelling(std::string_view name) {
  return is_bare_name(name) ? fmt::format("%{}", name) : "%" + quoted(name);
}

std::string type_spelling(const TensorType& type) {
  if (!type.ranked()) return fmt::format("{}[*]", tensor::dtype_name(type.dtype));
  std::string dims;
  for (const Dim& dim : *type.dims) dims += (dims.empty() ? "" : ", ") + dim_spelling(dim);
  return fmt::format("{}[{}]", tensor::dtype_name(type.dtype), dims);
}

std::string float_spelling(float value) { return element_spelling(value); }

std::string tensor_spelling(const Tensor& tensor, const ElementOptions& options) {
  const TensorType type{tensor.dtype(), Dims(tensor.shape().begin(), tensor.shape().end())};
  return fmt::format("{} {}", type_spelling(type), elements_spelling(tensor, options));
}

}  // namespace hone::graph
