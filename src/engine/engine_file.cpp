// See engine_file.hpp.
#include "engine/engine_file.hpp"

#include <zlib.h>

#include <array>
#include <cstring>
#include <fstream>
#include <functional>
#include <map>

#include "base/checked.hpp"
#include "base/file.hpp"
#include "base/file_kind.hpp"
#include "base/json.hpp"
#include "engine/context.hpp"
#include "engine/graph_json.hpp"
#include "engine/plan_json.hpp"
#include "engine/shape_profile.hpp"

namespace hone::engine {
namespace {

constexpr std::array<char, 8> kMagic = {'H', 'O', 'N', 'E', '\x1A', '\x01', '\x0D', '\x0A'};
constexpr uint32_t kVersion = 4;
constexpr size_t kPreludeBytes = 24;
constexpr size_t kChecksumFrom = 16;  // the checksum covers the header's length and everything after it
constexpr int64_t kAlignment = 64;
constexpr uint64_t kMaxHeaderBytes = 256u << 20;
/// Limit on the nesting of arrays and objects; it is enough for nested subgraphs (graph_json.cpp).
constexpr int kMaxHeaderDepth = 128;
/// Limit on the number of values in arrays and objects: each takes about 60 bytes of memory, but may take
/// only 2 bytes of the file.
constexpr int64_t kMaxHeaderItems = 1 << 25;
/// Constants up to this size are kept in plain form even if kernels pack them, because shape rules may read
/// them.
constexpr size_t kSmallBytes = 4096;

int64_t align(int64_t value) { return base::checked_add(value, kAlignment - 1) / kAlignment * kAlignment; }

template <class T>
T read_number(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

uint32_t checksum(uint32_t crc, std::string_view bytes) {
  return static_cast<uint32_t>(::crc32_z(crc, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

/// Bad input for JSON that would take much more memory than its size.
void check_header(std::string_view text) {
  if (text.size() > kMaxHeaderBytes) fail_bad_input("the header holds {} bytes", text.size());
  int depth = 0;
  int64_t items = 0;
  bool quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      if (c == '\\') ++i;
      quoted = c != '"';
      continue;
    }
    quoted = c == '"';
    if (c == ']' || c == '}') --depth;
    const bool opens = c == '[' || c == '{';
    if (opens && ++depth > kMaxHeaderDepth)
      fail_bad_input("the header is nested deeper than {}", kMaxHeaderDepth);
    if ((opens || c == ',') && ++items > kMaxHeaderItems)
      fail_bad_input("the header holds more than {} values", kMaxHeaderItems);
  }
}

Json profiles_to_json(const std::map<std::string, ShapeProfile>& shapes) {
  Json result = Json::object();
  for (const auto& [name, profile] : shapes)
    result[name] = {{"min", profile.min}, {"opt", profile.opt}, {"max", profile.max}};
  return result;
}

Json passes_to_json(const std::vector<transform::Summary>& passes) {
  Json result = Json::array();
  for (const auto& pass : passes) {
    result.push_back(
        {{"name", pass.name}, {"changes", pass.changes}, {"notes", pass.notes}, {"refusals", pass.refusals}});
  }
  return result;
}

Json log_to_json(const std::vector<TacticRecord>& log) {
  Json result = Json::array();
  for (const TacticRecord& record : log) {
    result.push_back({{"step", record.step},
                      {"tactic", record.tactic},
                      {"layout", layout_name(record.layout)},
                      {"policy", policy_name(record.policy)},
                      {"median_us", record.median_us},
                      {"lower_quartile_us", record.lower_quartile_us},
                      {"samples", record.samples},
                      {"chosen", record.chosen},
                      {"refusal", record.refusal.text()}});
  }
  return result;
}

/// Collects blobs at their final offsets. Data that several constants share, for example in subgraphs, become
/// one blob.
class BlobWriter {
 public:
  int64_t add(const std::byte* data, int64_t size) {
    const auto [known, is_new] = known_.try_emplace({data, size}, static_cast<int64_t>(blobs_.size()));
    if (!is_new) return known->second;
    offset_ = align(offset_);
    blobs_.push_back({offset_, size});
    parts_.emplace_back(reinterpret_cast<const char*>(data), static_cast<size_t>(size));
    offset_ += size;
    return known->second;
  }
  Json table() const { return blobs_; }
  /// The data area as views, including the padding between blobs.
  std::vector<std::string_view> parts() const {
    static constexpr std::array<char, kAlignment> kZeros{};
    std::vector<std::string_view> result;
    int64_t position = 0;
    for (size_t i = 0; i < parts_.size(); ++i) {
      result.emplace_back(kZeros.data(), static_cast<size_t>(blobs_[i][0] - position));
      result.push_back(parts_[i]);
      position = blobs_[i][0] + blobs_[i][1];
    }
    return result;
  }

 private:
  std::vector<std::array<int64_t, 2>> blobs_;
  std::vector<std::string_view> parts_;
  std::map<std::pair<const std::byte*, int64_t>, int64_t> known_;
  int64_t offset_ = 0;
};

/// Marks the constants that the program of the tuned shapes reads in plain form.
std::vector<bool> needed_constants(const Engine& engine, const Device& device) {
  std::vector<bool> needed(engine.graph->values.size(), false);
  std::vector<Shape> shapes;
  for (const graph::ValueId id : engine.graph->inputs) {
    const auto found = engine.shapes.find(engine.graph->value(id).name);
    if (found == engine.shapes.end())
      fail_usage("input '{}' needs a shape to be stored with the engine", engine.graph->value(id).name);
    shapes.push_back(found->second.opt);
  }
  device.set_threads(engine.threads);
  WeightStore weights = engine.weights;
  const auto program = compile(engine, device, program_shapes(engine, shapes), weights);
  for (const graph::ValueId id : program->plain_constants()) needed[static_cast<size_t>(id)] = true;
  for (size_t i = 0; i < needed.size(); ++i) {
    const auto& constant = engine.graph->values[i].constant;
    needed[i] = needed[i] || (constant && (constant->byte_size() <= kSmallBytes ||
                                           engine.weights.find_any(engine.graph->values[i].name) == nullptr));
  }
  return needed;
}

/// Parses [offset, length] pairs that start at 0 and follow each other with only padding in between.
std::vector<std::array<int64_t, 2>> read_blob_table(const Json& json, int64_t data_bytes) {
  auto blobs = json.get<std::vector<std::array<int64_t, 2>>>();
  int64_t end = 0;
  for (size_t i = 0; i < blobs.size(); ++i) {
    const auto [offset, length] = blobs[i];
    if (length < 0 || offset != align(end))
      fail_bad_input("blob {} at offset {} leaves a hole or overlaps another", i, offset);
    end = base::checked_add(offset, length);
  }
  if (end != data_bytes) fail_bad_input("the blobs end at byte {} of {} bytes of data", end, data_bytes);
  return blobs;
}

std::map<std::string, ShapeProfile> read_profiles(const Json& json, const graph::Graph& graph) {
  std::map<std::string, ShapeProfile> result;
  for (const auto& [name, item] : json.items()) {
    ShapeProfile profile{item.at("min").get<Shape>(), item.at("opt").get<Shape>(),
                         item.at("max").get<Shape>()};
    const graph::Value* input = nullptr;
    for (const graph::ValueId id : graph.inputs) {
      if (graph.value(id).name == name) input = &graph.value(id);
    }
    if (input == nullptr) fail_bad_input("shape range of an unknown input '{}'", name);
    if (const std::string fault = profile_fault(*input, profile); !fault.empty())
      fail_bad_input("shape range of input '{}': {}", name, fault);
    result[name] = std::move(profile);
  }
  for (const graph::ValueId id : graph.inputs) {
    if (!result.contains(graph.value(id).name))
      fail_bad_input("input '{}' has no shape range", graph.value(id).name);
  }
  return result;
}

std::vector<transform::Summary> read_passes(const Json& json) {
  std::vector<transform::Summary> result;
  for (const Json& item : json) {
    transform::Summary summary;
    summary.name = item.at("name").get<std::string>();
    summary.changes = item.at("changes").get<int>();
    summary.notes = item.at("notes").get<std::vector<std::string>>();
    summary.refusals = item.at("refusals").get<std::vector<std::string>>();
    result.push_back(std::move(summary));
  }
  return result;
}

std::vector<TacticRecord> read_log(const Json& json) {
  std::vector<TacticRecord> result;
  for (const Json& item : json) {
    result.push_back({item.at("step").get<std::string>(), item.at("tactic").get<std::string>(),
                      parse_layout(item.at("layout").get<std::string>()),
                      parse_policy(item.at("policy").get<std::string>()), item.at("median_us").get<double>(),
                      item.at("lower_quartile_us").get<double>(), item.at("samples").get<int>(),
                      item.at("chosen").get<bool>(), item.at("refusal").get<std::string>()});
  }
  return result;
}

/// A constant may lack its data only if a packed form of it is stored.
void check_packed(const Engine& engine) {
  for (const graph::Value& value : engine.graph->values) {
    if (!value.constant || value.constant->bytes() != nullptr || value.constant->size() == 0) continue;
    if (engine.weights.find_any(value.name) == nullptr)
      fail_bad_input("constant '{}' is stored in no form", value.name);
  }
}

/// Reads the fields of the header into an engine; throws JSON errors for fields that are missing or have a
/// wrong type.
std::shared_ptr<Engine> read_header(const Json& header, const ReadBlob& read,
                                    const std::vector<std::array<int64_t, 2>>& blobs) {
  auto engine = std::make_shared<Engine>();
  engine->model = header.at("model").get<std::string>();
  engine->metadata = header.at("metadata").get<std::map<std::string, std::string>>();
  engine->hone_version = header.at("hone_version").get<std::string>();
  engine->threads = header.at("threads").get<int>();
  if (engine->threads < 1 || engine->threads > kMaxThreads)
    fail_bad_input("field 'threads' is {}, outside 1 to {}", engine->threads, kMaxThreads);
  engine->layout = parse_layout(header.at("layout").get<std::string>());
  engine->micro_batch = header.at("micro_batch").get<int64_t>();
  engine->passes = read_passes(header.at("passes"));
  engine->log = read_log(header.at("log"));
  engine->not_timed = header.at("not_timed").get<std::string>();
  engine->cut_short = header.at("cut_short").get<std::string>();
  engine->graph = std::make_shared<const graph::Graph>(graph_from_json(header.at("graph"), read));
  read_plans(header, *engine);
  engine->shapes = read_profiles(header.at("shapes"), *engine->graph);
  if (engine->micro_batch < 0 || (engine->micro_batch > 0 && !splits_by_batch(*engine->graph))) {
    fail_bad_input("field 'micro_batch' is {}, which this graph does not allow", engine->micro_batch);
  }
  for (const Json& item : header.at("packed")) {
    const auto blob = item.at("blob").get<int64_t>();
    if (blob < 0 || static_cast<size_t>(blob) >= blobs.size())
      fail_bad_input("packed weight in blob {}, which is not there", blob);
    const int64_t length = blobs[static_cast<size_t>(blob)][1];
    auto [data, owner] = read(blob, length);
    engine->weights.add({item.at("constant").get<std::string>(), item.at("format").get<std::string>()},
                        tensor::Tensor(DType::kUInt8, {length}, data, std::move(owner)));
  }
  check_packed(*engine);
  return engine;
}

/// Passes the content of an engine's file to `take`, in consecutive parts.
void assemble(const Engine& engine, const Device& device,
              const std::function<void(std::span<const std::string_view>)>& take) {
  BlobWriter blobs;
  const std::vector<bool> needed = needed_constants(engine, device);
  Json header;
  header["model"] = engine.model;
  header["metadata"] = engine.metadata;
  header["hone_version"] = engine.hone_version;
  header["threads"] = engine.threads;
  header["layout"] = layout_name(engine.layout);
  write_plans(engine, header);
  header["micro_batch"] = engine.micro_batch;
  header["shapes"] = profiles_to_json(engine.shapes);
  header["passes"] = passes_to_json(engine.passes);
  header["log"] = log_to_json(engine.log);
  header["not_timed"] = engine.not_timed;
  header["cut_short"] = engine.cut_short;
  const auto write = [&](const std::byte* data, int64_t size) { return blobs.add(data, size); };
  header["graph"] =
      graph_to_json(*engine.graph, write, [&](graph::ValueId id) { return needed[static_cast<size_t>(id)]; });
  header["packed"] = Json::array();
  for (const auto& [key, bytes] : engine.weights.entries()) {
    header["packed"].push_back(
        {{"constant", key.first}, {"format", key.second}, {"blob", blobs.add(bytes.bytes(), bytes.size())}});
  }
  header["blobs"] = blobs.table();

  // Names are valid UTF-8, but the author's texts and the path of the model may not be.
  const std::string text = header.dump(-1, ' ', false, Json::error_handler_t::replace);
  check_header(text);
  std::string prelude(kPreludeBytes, '\0');
  const std::string padding(static_cast<size_t>(align(static_cast<int64_t>(kPreludeBytes + text.size()))) -
                                kPreludeBytes - text.size(),
                            '\0');
  std::vector<std::string_view> parts = {prelude, text, padding};
  for (const std::string_view part : blobs.parts()) parts.push_back(part);
  const uint64_t length = text.size();
  std::memcpy(prelude.data(), kMagic.data(), kMagic.size());
  std::memcpy(prelude.data() + 8, &kVersion, sizeof kVersion);
  std::memcpy(prelude.data() + 16, &length, sizeof length);
  uint32_t crc = checksum(0, std::string_view(prelude).substr(kChecksumFrom));
  for (size_t i = 1; i < parts.size(); ++i) crc = checksum(crc, parts[i]);
  std::memcpy(prelude.data() + 12, &crc, sizeof crc);
  parts[0] = prelude;
  take(parts);
}

}  // namespace

void save_engine(const Engine& engine, const Device& device, const std::filesystem::path& path) {
  assemble(engine, device,
           [&](std::span<const std::string_view> parts) { base::write_file_atomic(path, parts); });
}

int64_t engine_file_bytes(const Engine& engine, const Device& device) {
  size_t bytes = 0;
  assemble(engine, device, [&](std::span<const std::string_view> parts) {
    for (const std::string_view part : parts) bytes += part.size();
  });
  return static_cast<int64_t>(bytes);
}

std::shared_ptr<Engine> read_engine(std::span<const std::byte> bytes, std::shared_ptr<const void> owner) {
  if (bytes.size() < kPreludeBytes)
    fail_bad_input("the file has {} bytes, fewer than an engine's prelude", bytes.size());
  if (std::memcmp(bytes.data(), kMagic.data(), kMagic.size()) != 0)
    fail_bad_input("{}", base::other_kind_text({reinterpret_cast<const char*>(bytes.data()), bytes.size()},
                                               "an engine file", "hone build MODEL -o FILE.hone makes one"));
  const auto version = read_number<uint32_t>(bytes.data() + 8);
  if (version != kVersion)
    fail_bad_input("engine file version {}, this program reads version {}; build the engine again", version,
                   kVersion);
  const auto length = read_number<uint64_t>(bytes.data() + 16);
  if (length > kMaxHeaderBytes || length > bytes.size() - kPreludeBytes) {
    fail_bad_input("the header claims {} bytes in a file of {}", length, bytes.size());
  }
  const auto expected = read_number<uint32_t>(bytes.data() + 12);
  const std::string_view all(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (checksum(0, all.substr(kChecksumFrom)) != expected)
    fail_bad_input("the checksum does not match: the file is damaged");

  const int64_t data_begin = align(static_cast<int64_t>(kPreludeBytes + length));
  const int64_t data_bytes = std::max<int64_t>(static_cast<int64_t>(bytes.size()) - data_begin, 0);
  try {
    check_header(all.substr(kPreludeBytes, length));
    const Json header = Json::parse(all.substr(kPreludeBytes, length));
    const auto blobs = read_blob_table(header.at("blobs"), data_bytes);
    const ReadBlob read = [&](int64_t blob,
                              int64_t size) -> std::pair<const std::byte*, std::shared_ptr<const void>> {
      if (blob < 0 || static_cast<size_t>(blob) >= blobs.size()) fail_bad_input("blob {} is not there", blob);
      const auto [offset, stored] = blobs[static_cast<size_t>(blob)];
      if (stored != size) fail_bad_input("blob {} has {} bytes, its tensor needs {}", blob, stored, size);
      return {bytes.data() + data_begin + offset, owner};
    };
    return read_header(header, read, blobs);
  } catch (const Json::exception& error) {
    fail_bad_input("the header is not valid: {}", error.what());
  }
}

std::shared_ptr<Engine> load_engine(const std::filesystem::path& path) {
  auto file = std::make_shared<base::MappedFile>(path);
  try {
    return read_engine(file->bytes(), file);
  } catch (const Error& error) {
    throw Error(ErrorKind::kBadInput, error.what(), path.string());
  }
}

bool is_engine_file(const std::filesystem::path& path) {
  if (path.extension() == ".hone") return true;
  // A folder may have the name of a built-in architecture, and opening a pipe would wait for its writer.
  std::error_code unknown;
  if (!std::filesystem::is_regular_file(path, unknown)) return false;
  std::ifstream file(path, std::ios::binary);
  std::array<char, kMagic.size()> start{};
  return file.read(start.data(), start.size()) && start == kMagic;
}

}  // namespace hone::engine
