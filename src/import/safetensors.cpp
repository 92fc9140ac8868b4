// See safetensors.hpp.
#include "import/safetensors.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <set>
#include <vector>

#include "base/checked.hpp"
#include "base/file.hpp"
#include "base/file_kind.hpp"
#include "base/json.hpp"
#include "import/foreign_file.hpp"
#include "import/tensor_bytes.hpp"

namespace hone::importer {
namespace {

using tensor::DType;
using tensor::Tensor;

constexpr uint64_t kMaxHeaderBytes = 100'000'000;
constexpr size_t kLengthBytes = 8;
constexpr int kMaxDepth = 3;  // the header, a tensor, its shape
constexpr size_t kMaxRank = 64;

struct TypeName {
  DType dtype;
  std::string_view name;
};

constexpr std::array<TypeName, 13> kTypeNames = {{
    {DType::kBool, "BOOL"},
    {DType::kUInt8, "U8"},
    {DType::kInt8, "I8"},
    {DType::kUInt16, "U16"},
    {DType::kInt16, "I16"},
    {DType::kUInt32, "U32"},
    {DType::kInt32, "I32"},
    {DType::kUInt64, "U64"},
    {DType::kInt64, "I64"},
    {DType::kFloat16, "F16"},
    {DType::kBFloat16, "BF16"},
    {DType::kFloat32, "F32"},
    {DType::kFloat64, "F64"},
}};

struct Entry {
  std::string name;
  DType dtype = DType::kUndefined;
  tensor::Shape shape;
  uint64_t begin = 0;
  uint64_t end = 0;
};

/// Parses the header; bad input if it is not JSON, nests too deeply, or has a key twice in one object.
Json parse_header(std::string_view text) {
  if (text.empty() || text[0] != '{') fail_bad_input("the header does not start with '{{'");
  std::vector<std::set<std::string>> keys;
  const auto watch = [&](int depth, Json::parse_event_t event, Json& parsed) {
    if (depth > kMaxDepth) fail_bad_input("the header nests more than {} deep", kMaxDepth);
    if (event == Json::parse_event_t::object_start) keys.emplace_back();
    if (event == Json::parse_event_t::object_end) keys.pop_back();
    if (event == Json::parse_event_t::key && !keys.back().insert(parsed.get<std::string>()).second) {
      fail_bad_input("the header has key '{}' twice", parsed.get<std::string>().substr(0, 200));
    }
    return true;
  };
  try {
    return Json::parse(text.begin(), text.end(), watch);
  } catch (const Json::exception& error) {
    fail_bad_input("the header is not valid JSON: {}", error.what());
  }
}

uint64_t read_count(const Json& json, const char* field) {
  if (!json.is_number_unsigned()) fail_bad_input("field {} holds something that is not a count", field);
  return json.get<uint64_t>();
}

DType read_type(const Json& json) {
  if (!json.is_string()) fail_bad_input("field dtype is not a string");
  const auto& name = json.get_ref<const std::string&>();
  for (const TypeName& entry : kTypeNames) {
    if (entry.name == name) return entry.dtype;
  }
  fail_bad_input("field dtype: element type '{}' is not supported", name.substr(0, 40));
}

Entry read_entry(const std::string& name, const Json& json, uint64_t data_bytes) {
  if (!json.is_object()) fail_bad_input("its description is not an object");
  for (const auto& [key, value] : json.items()) {
    if (key != "dtype" && key != "shape" && key != "data_offsets") {
      fail_bad_input("field '{}' is not known", key.substr(0, 200));
    }
  }
  if (json.size() != 3) fail_bad_input("it needs the fields dtype, shape and data_offsets");
  Entry entry{name, read_type(json["dtype"]), {}, 0, 0};
  const Json& shape = json["shape"];
  if (!shape.is_array() || shape.size() > kMaxRank)
    fail_bad_input("field shape is no list of up to {} counts", kMaxRank);
  for (const Json& dim : shape) entry.shape.push_back(base::checked_cast<int64_t>(read_count(dim, "shape")));
  const Json& offsets = json["data_offsets"];
  if (!offsets.is_array() || offsets.size() != 2)
    fail_bad_input("field data_offsets is no list of two counts");
  entry.begin = read_count(offsets[0], "data_offsets");
  entry.end = read_count(offsets[1], "data_offsets");
  if (entry.begin > entry.end || entry.end > data_bytes) {
    fail_bad_input("field data_offsets: [{}, {}] lies outside the {} bytes of data", entry.begin, entry.end,
                   data_bytes);
  }
  return entry;
}

void check_metadata(const Json& json) {
  if (!json.is_object()) fail_bad_input("field __metadata__ is not an object");
  for (const auto& [key, value] : json.items()) {
    if (!value.is_string()) fail_bad_input("field __metadata__: '{}' is not a string", key.substr(0, 200));
  }
}

template <class F>
auto for_tensor(const std::string& name, F&& f) {
  try {
    return f();
  } catch (const Error& error) {
    throw error.within(fmt::format("tensor '{}'", name.substr(0, 200)));
  }
}

std::vector<Entry> read_entries(const Json& header, uint64_t data_bytes) {
  std::vector<Entry> entries;
  for (const auto& [name, json] : header.items()) {
    if (name == "__metadata__") {
      check_metadata(json);
      continue;
    }
    entries.push_back(
        for_tensor(name, [&, &json = json, &name = name] { return read_entry(name, json, data_bytes); }));
  }
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return std::tie(a.begin, a.end, a.name) < std::tie(b.begin, b.end, b.name);
  });
  uint64_t expected = 0;
  for (const Entry& entry : entries) {
    for_tensor(entry.name, [&] {
      if (entry.begin != expected) {
        fail_bad_input("field data_offsets: starts at {}, but the tensor before ends at {}", entry.begin,
                       expected);
      }
    });
    expected = entry.end;
  }
  if (expected != data_bytes) {
    fail_bad_input("the tensors end at byte {} of the data, the file at {}", expected, data_bytes);
  }
  return entries;
}

}  // namespace

NamedTensors read_safetensors(std::span<const std::byte> bytes, const std::shared_ptr<const void>& owner) {
  uint64_t length = 0;
  if (bytes.size() < kLengthBytes) fail_bad_input("{} bytes are no safetensors file", bytes.size());
  std::memcpy(&length, bytes.data(), kLengthBytes);
  const std::string_view content(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (length > kMaxHeaderBytes && !base::seeming_kind(content).empty())
    fail_bad_input("{}",
                   base::other_kind_text(content, "a safetensors file",
                                         "safetensors.torch.save_file(net.state_dict(), FILE) writes one"));
  if (length > kMaxHeaderBytes)
    fail_bad_input("a header of {} bytes passes the limit of {}", length, kMaxHeaderBytes);
  if (length > bytes.size() - kLengthBytes) {
    fail_bad_input("a header of {} bytes is cut off: the file holds {}", length, bytes.size());
  }
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()) + kLengthBytes, length);
  const auto data = bytes.subspan(kLengthBytes + length);
  NamedTensors result;
  for (const Entry& entry : read_entries(parse_header(text), data.size())) {
    for_tensor(entry.name, [&] {
      const auto range = data.subspan(entry.begin, entry.end - entry.begin);
      result[entry.name] = tensor_from_bytes(entry.dtype, entry.shape, range, "field data_offsets", owner);
    });
  }
  return result;
}

NamedTensors read_safetensors(const std::filesystem::path& file) {
  const auto content = std::make_shared<const base::MappedFile>(file);
  try {
    return read_safetensors(content->bytes(), content);
  } catch (const Error& error) {
    const std::string foreign = foreign_weights(file);
    if (!foreign.empty()) throw Error(ErrorKind::kBadInput, foreign, file.string());
    throw error.within(file.string());
  }
}

void write_safetensors(const std::filesystem::path& file, const NamedTensors& tensors) {
  Json header = Json::object();
  std::vector<std::string_view> parts(2);
  uint64_t offset = 0;
  for (const auto& [name, tensor] : tensors) {
    const auto* type =
        std::find_if(kTypeNames.begin(), kTypeNames.end(),
                     [dtype = tensor.dtype()](const TypeName& entry) { return entry.dtype == dtype; });
    if (type == kTypeNames.end()) fail_internal("tensor '{}' has a type that files cannot have", name);
    header[name] = {{"dtype", type->name},
                    {"shape", tensor.shape()},
                    {"data_offsets", {offset, offset + tensor.byte_size()}}};
    parts.emplace_back(reinterpret_cast<const char*>(tensor.bytes()), tensor.byte_size());
    offset += tensor.byte_size();
  }
  std::string text = header.dump();
  text.resize((text.size() + kLengthBytes - 1) / kLengthBytes * kLengthBytes, ' ');  // tensors start aligned
  const uint64_t length = text.size();
  parts[0] = {reinterpret_cast<const char*>(&length), kLengthBytes};
  parts[1] = text;
  base::write_file_atomic(file, parts);
}

}  // namespace hone::importer
