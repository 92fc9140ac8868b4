// See wire_scan.hpp. Encoding: protobuf.dev/programming-guides/encoding; field numbers: onnx.proto.
#include "import/onnx/wire_scan.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>

#include "base/error.hpp"
#include "import/onnx/limits.hpp"

namespace hone::importer {
namespace {

/// Messages that hold further messages or strings; all others count as one and are not entered.
enum class Kind : uint8_t {
  kLeaf,
  kModel,
  kGraph,
  kFunction,
  kTraining,
  kNode,
  kAttribute,
  kTensor,
  kSparse,
  kValueInfo,
  kType,
  kTensorType,
  kNestedType,
  kMapType,
  kShape,
  kAnnotation,
};

struct Child {
  Kind parent;
  uint64_t field;
  Kind child;
};

constexpr Child kChildren[] = {
    {Kind::kModel, 7, Kind::kGraph},         {Kind::kModel, 20, Kind::kTraining},
    {Kind::kModel, 25, Kind::kFunction},     {Kind::kTraining, 1, Kind::kGraph},
    {Kind::kTraining, 2, Kind::kGraph},      {Kind::kFunction, 7, Kind::kNode},
    {Kind::kFunction, 11, Kind::kAttribute}, {Kind::kFunction, 12, Kind::kValueInfo},
    {Kind::kGraph, 1, Kind::kNode},          {Kind::kGraph, 5, Kind::kTensor},
    {Kind::kGraph, 11, Kind::kValueInfo},    {Kind::kGraph, 12, Kind::kValueInfo},
    {Kind::kGraph, 13, Kind::kValueInfo},    {Kind::kGraph, 15, Kind::kSparse},
    {Kind::kNode, 5, Kind::kAttribute},      {Kind::kAttribute, 5, Kind::kTensor},
    {Kind::kAttribute, 6, Kind::kGraph},     {Kind::kAttribute, 10, Kind::kTensor},
    {Kind::kAttribute, 11, Kind::kGraph},    {Kind::kAttribute, 14, Kind::kType},
    {Kind::kAttribute, 15, Kind::kType},     {Kind::kAttribute, 22, Kind::kSparse},
    {Kind::kAttribute, 23, Kind::kSparse},   {Kind::kSparse, 1, Kind::kTensor},
    {Kind::kSparse, 2, Kind::kTensor},       {Kind::kValueInfo, 2, Kind::kType},
    {Kind::kType, 1, Kind::kTensorType},     {Kind::kType, 4, Kind::kNestedType},
    {Kind::kType, 5, Kind::kMapType},        {Kind::kType, 8, Kind::kTensorType},
    {Kind::kType, 9, Kind::kNestedType},     {Kind::kNestedType, 1, Kind::kType},
    {Kind::kMapType, 2, Kind::kType},        {Kind::kTensorType, 2, Kind::kShape},
    {Kind::kGraph, 14, Kind::kAnnotation},
};

Kind child_kind(Kind parent, uint64_t field) {
  const auto* found = std::find_if(std::begin(kChildren), std::end(kChildren),
                                   [&](const Child& c) { return c.parent == parent && c.field == field; });
  return found == std::end(kChildren) ? Kind::kLeaf : found->child;
}

class Scanner {
 public:
  explicit Scanner(std::span<const std::byte> bytes) : bytes_(bytes) {}

  void message(Kind kind, size_t end, int depth) {
    if (depth > kMaxMessageDepth)
      fail_bad_input("byte {}: messages are nested more than {} deep", at_, kMaxMessageDepth);
    while (at_ < end) {
      const uint64_t tag = varint(end);
      if (tag >> 3 == 0) fail_bad_input("byte {}: a field has number 0; this is not an ONNX model", at_);
      field(kind, tag >> 3, tag & 7, end, depth);
    }
  }

 private:
  void field(Kind kind, uint64_t number, uint64_t wire_type, size_t end, int depth) {
    switch (wire_type) {
      case 0: varint(end); return;
      case 1: skip(8, end); return;
      case 2: delimited(kind, number, end, depth); return;
      case 5: skip(4, end); return;
      default: fail_bad_input("byte {}: wire type {} is not used in ONNX models", at_, wire_type);
    }
  }

  void delimited(Kind kind, uint64_t number, size_t end, int depth) {
    const uint64_t length = varint(end);
    if (length > end - at_) {
      fail_bad_input("byte {}: a field of {} bytes is cut off, only {} are left", at_, length, end - at_);
    }
    if (++messages_ > kMaxMessages) {
      fail_bad_input("byte {}: more than {} messages and strings in one model", at_, kMaxMessages);
    }
    const size_t field_end = at_ + static_cast<size_t>(length);
    const Kind child = child_kind(kind, number);
    if (child != Kind::kLeaf) message(child, field_end, depth + 1);
    at_ = field_end;
  }

  uint64_t varint(size_t end) {
    uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      if (at_ >= end) fail_bad_input("byte {}: a number is cut off", at_);
      const auto byte = static_cast<uint64_t>(bytes_[at_++]);
      value |= (byte & 0x7f) << shift;
      if ((byte & 0x80) == 0) return value;
    }
    fail_bad_input("byte {}: a number has more than 10 bytes", at_);
  }

  void skip(size_t count, size_t end) {
    if (count > end - at_) fail_bad_input("byte {}: a number is cut off", at_);
    at_ += count;
  }

  std::span<const std::byte> bytes_;
  size_t at_ = 0;
  size_t messages_ = 0;
};

}  // namespace

void scan_model(std::span<const std::byte> bytes) { Scanner(bytes).message(Kind::kModel, bytes.size(), 0); }

}  // namespace hone::importer
