// See times_cache.hpp.
#include "backend/partition/times_cache.hpp"

#include "backend/partition/placement.hpp"
#include "base/file.hpp"
#include "base/read_described.hpp"
#include "base/version.hpp"
#include "system/cpu.hpp"

namespace hone::backend::partition {
namespace {

constexpr uint64_t kLargestFile = uint64_t{16} << 20;

struct StoredTimes {
  std::string key;
  std::vector<double> node_us;
  double launch_us = 0;
  double input_us_per_byte = 0;
  double output_us_per_byte = 0;
  double wait_us = 0;
  bool shared_out = false;
};

/// The file name for a key. Two keys may share it, so the file also holds the key itself.
std::filesystem::path file_of(const std::string& key) {
  const std::filesystem::path folder = base::cache_directory();
  if (folder.empty()) return {};
  return folder / "partition" / fmt::format("{:016x}.json", std::hash<std::string>()(key));
}

}  // namespace
}  // namespace hone::backend::partition

namespace hone::base {

template <>
struct Description<backend::partition::StoredTimes> {
  using Times = backend::partition::StoredTimes;
  static constexpr std::string_view kName = "StoredTimes";
  static constexpr std::tuple kFields{
      Field{"key", &Times::key, "What the times belong to"},
      Field{"node_us", &Times::node_us, "Of each node"},
      at_least(0, Field{"launch_us", &Times::launch_us, "Time to launch a block"}),
      at_least(0, Field{"input_us_per_byte", &Times::input_us_per_byte, "To take in"}),
      at_least(0, Field{"output_us_per_byte", &Times::output_us_per_byte, "To hand out"}),
      at_least(0, Field{"wait_us", &Times::wait_us, "Of a run"}),
      Field{"shared_out", &Times::shared_out, "True if blocks were measured and not steps"}};
};

}  // namespace hone::base

namespace hone::backend::partition {

std::string times_key(const Subject& subject, const std::string& fingerprint, const Backend& backend) {
  std::string key = fmt::format("{} {} {} | {} | {} | {} threads | {} | hone {}", fingerprint, backend.name(),
                                backend.version(device_of(backend, subject.options.device)),
                                system::cpu_name(), precision_name(subject.options.precision),
                                subject.options.threads, subject.options.device, base::version());
  for (const auto& [name, value] : subject.options.settings) key += fmt::format(" | {} = {}", name, value);
  for (const auto& [name, shape] : subject.options.input_shapes)
    key += fmt::format(" | {}:{}", name, tensor::shape_text(shape));
  return key;
}

std::optional<NodeTimes> find_times(const std::string& key, size_t nodes) {
  const std::filesystem::path file = file_of(key);
  if (file.empty() || !std::filesystem::exists(file)) return std::nullopt;
  try {
    const Json json = Json::parse(base::read_file(file, kLargestFile), nullptr, false);
    const auto stored = base::read_described<StoredTimes>(json);
    if (stored.key != key || stored.node_us.size() != nodes) return std::nullopt;
    return NodeTimes{stored.node_us,
                     {stored.launch_us, stored.input_us_per_byte, stored.output_us_per_byte, stored.wait_us},
                     stored.shared_out};
  } catch (const Error&) {
    return std::nullopt;
  }
}

void keep_times(const std::string& key, const NodeTimes& times) {
  const std::filesystem::path file = file_of(key);
  if (file.empty()) return;
  const StoredTimes stored{key,
                           times.node_us,
                           times.cost.launch_us,
                           times.cost.input_us_per_byte,
                           times.cost.output_us_per_byte,
                           times.cost.wait_us,
                           times.shared_out};
  try {
    std::error_code error;
    std::filesystem::create_directories(file.parent_path(), error);
    base::write_file_atomic(file, base::described_json(stored).dump() + "\n");
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kEnvironment) throw;
  }
}

}  // namespace hone::backend::partition
