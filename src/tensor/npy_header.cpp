// See npy_header.hpp.
#include "tensor/npy_header.hpp"

#include <algorithm>
#include <charconv>

#include "base/error.hpp"
#include "base/file_kind.hpp"

namespace hone::tensor {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr size_t kMaxHeader = 65536;
constexpr size_t kAlignment = 64;
constexpr size_t kMaxRank = 32;

struct TypeCode {
  std::string_view code;
  DType dtype;
};

constexpr TypeCode kTypeCodes[] = {
    {"f4", DType::kFloat32}, {"f8", DType::kFloat64}, {"f2", DType::kFloat16}, {"i1", DType::kInt8},
    {"i2", DType::kInt16},   {"i4", DType::kInt32},   {"i8", DType::kInt64},   {"u1", DType::kUInt8},
    {"u2", DType::kUInt16},  {"u4", DType::kUInt32},  {"u8", DType::kUInt64},  {"b1", DType::kBool},
};

DType parse_type(std::string_view descr) {
  const std::string_view code = descr.empty() ? descr : descr.substr(1);
  if (code.starts_with('O')) fail_bad_input("the array holds Python objects (a pickle), which are not read");
  for (const TypeCode& entry : kTypeCodes) {
    if (entry.code != code) continue;
    if (descr[0] == '>' && dtype_size(entry.dtype) > 1) {
      fail_bad_input("the array is big-endian ('{}'); save it as little-endian", descr);
    }
    return entry.dtype;
  }
  fail_bad_input("the array's element type '{}' is not supported", descr);
}

/// Parses the dictionary that numpy writes as a Python literal: strings, True, False, tuples of integers.
class DictionaryParser {
 public:
  explicit DictionaryParser(std::string_view text) : text_(text) {}

  void parse(NpyHeader& header) {
    expect('{');
    while (!accept('}')) {
      const std::string_view key = string();
      expect(':');
      read_entry(key, header);
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    if (header.dtype == DType::kUndefined || !has_shape_) fail();
  }

 private:
  void read_entry(std::string_view key, NpyHeader& header) {
    if (key == "descr") {
      header.dtype = parse_type(string());
    } else if (key == "fortran_order") {
      if (word() == "True") fail_bad_input("the array is column-major; save numpy.ascontiguousarray of it");
    } else if (key == "shape") {
      header.shape = tuple();
      has_shape_ = true;
    } else {
      fail();
    }
  }

  [[noreturn]] static void fail() {
    fail_bad_input(
        "the .npy header is not a dictionary of descr, "
        "fortran_order and shape");
  }
  void skip_space() {
    while (!text_.empty() && (text_[0] == ' ' || text_[0] == '\n')) text_.remove_prefix(1);
  }
  bool accept(char c) {
    skip_space();
    if (text_.empty() || text_[0] != c) return false;
    text_.remove_prefix(1);
    return true;
  }
  void expect(char c) {
    if (!accept(c)) fail();
  }
  std::string_view take(size_t count) {
    const std::string_view taken = text_.substr(0, count);
    text_.remove_prefix(count);
    return taken;
  }
  /// Structured types have a list instead of a string; it is refused like any other text.
  std::string_view string() {
    expect('\'');
    const size_t end = text_.find('\'');
    if (end == std::string_view::npos) fail();
    const std::string_view value = take(end);
    expect('\'');
    return value;
  }
  std::string_view word() {
    skip_space();
    const std::string_view value = take(std::min(text_.find_first_of(",} "), text_.size()));
    if (value != "True" && value != "False") fail();
    return value;
  }
  Shape tuple() {
    Shape shape;
    expect('(');
    while (!accept(')')) {
      if (shape.size() == kMaxRank) fail_bad_input("the array has more than {} dimensions", kMaxRank);
      shape.push_back(integer());
      if (!accept(',')) {
        expect(')');
        break;
      }
    }
    return shape;
  }
  int64_t integer() {
    skip_space();
    int64_t value = 0;
    const auto [end, code] = std::from_chars(text_.data(), text_.data() + text_.size(), value);
    if (code != std::errc() || value < 0) fail();
    text_.remove_prefix(static_cast<size_t>(end - text_.data()));
    return value;
  }

  std::string_view text_;
  bool has_shape_ = false;
};

size_t read_length(std::string_view field) {
  size_t length = 0;
  for (size_t i = field.size(); i-- > 0;) length = length << 8 | static_cast<unsigned char>(field[i]);
  return length;
}

}  // namespace

NpyHeader parse_npy_header(std::string_view file) {
  if (file.empty()) fail_bad_input("the .npy file is empty");
  if (!file.starts_with(kMagic))
    fail_bad_input("{}",
                   base::other_kind_text(file, "a .npy array", "numpy.save(\"x.npy\", array) writes one"));
  if (file.size() < 12) fail_bad_input("the .npy array ends inside its header");
  const int version = file[6];
  if (version < 1 || version > 3) fail_bad_input("the .npy format version {} is not known", version);
  const size_t field = version == 1 ? 2 : 4;
  const size_t length = read_length(file.substr(8, field));
  if (length > kMaxHeader) {
    fail_bad_input("the .npy header of {} bytes is longer than the limit of {}", length, kMaxHeader);
  }
  NpyHeader header;
  header.size = 8 + field + length;
  if (header.size > file.size()) fail_bad_input("the .npy array ends inside its header");
  DictionaryParser(file.substr(8 + field, length)).parse(header);
  return header;
}

std::string format_npy_header(DType dtype, const Shape& shape) {
  std::string_view code;
  for (const TypeCode& entry : kTypeCodes) {
    if (entry.dtype == dtype) code = entry.code;
  }
  if (code.empty()) fail_internal("numpy has no element type for {}", dtype_name(dtype));
  std::string dictionary = fmt::format("{{'descr': '{}{}', 'fortran_order': False, 'shape': ({}{}), }}",
                                       dtype_size(dtype) == 1 ? '|' : '<', code, fmt::join(shape, ", "),
                                       shape.size() == 1 ? "," : "");
  const size_t unpadded = 10 + dictionary.size() + 1;
  dictionary.append((kAlignment - unpadded % kAlignment) % kAlignment, ' ');
  dictionary += '\n';
  std::string out(kMagic);
  out += {1, 0, static_cast<char>(dictionary.size() & 0xff), static_cast<char>(dictionary.size() >> 8)};
  return out + dictionary;
}

}  // namespace hone::tensor
