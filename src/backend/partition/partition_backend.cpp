// See partition_backend.hpp.
#include "backend/partition/partition_backend.hpp"

#include <set>

#include "backend/partition/checked_blocks.hpp"
#include "backend/partition/partitioned_executable.hpp"
#include "backend/partition/placement.hpp"
#include "backend/registry.hpp"
#include "base/partition_file.hpp"

namespace hone::backend::partition {
namespace {

class PartitionBackend final : public Backend {
 public:
  explicit PartitionBackend(std::string_view name)
      : name_(name), file_(name.substr(kPrefix.size())), record_(base::read_partition(file_)) {}

  std::string_view name() const override { return name_; }

  std::string version(std::string_view device) const override {
    std::set<std::string> names;
    for (const base::PartitionBlock& block : record_.blocks) names.insert(block.backend);
    std::string text;
    for (const std::string& name : names) {
      text += text.empty() ? "" : "; ";
      const std::unique_ptr<Backend> backend = make_known(name);
      text += fmt::format("{} {}", name, backend->version(device_of(*backend, device)));
    }
    return text;
  }

  void require_device(std::string_view device) const override {
    if (device != record_.device)
      fail_environment("{} is a partition for {}, not for {}", file_, record_.device, device);
  }

  std::unique_ptr<Executable> load(const importer::Model& model, const LoadOptions& options) override {
    require_device(options.device);
    PartitionedModel partitioned{.name = model.name, .graph = prepare(model.graph, model.name)};
    try {
      partitioned.blocks = checked_blocks(record_, *partitioned.graph, &partitioned.backends);
    } catch (const Error& error) {
      throw error.within(file_);
    }
    const bool as_predicted =
        options.threads == record_.threads && precision_name(options.precision) == record_.precision;
    if (as_predicted) partitioned.predicted_ms = record_.predicted_ms;
    for (const auto& [input, shape] : record_.input_shapes) partitioned.predicted_shapes[input] = shape;
    return std::make_unique<PartitionedExecutable>(std::move(partitioned), options);
  }

 private:
  /// Makes a backend whose name comes from the file.
  std::unique_ptr<Backend> make_known(const std::string& name) const {
    try {
      if (is_partition(name)) fail_usage("a block runs on a backend, not on another partition ('{}')", name);
      return make_backend(name);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::kUsage) throw;
      throw Error(ErrorKind::kBadInput, error.sentence(), file_);
    }
  }

  std::string name_;
  std::string file_;
  base::PartitionRecord record_;
};

}  // namespace

std::unique_ptr<Backend> make_partition_backend(std::string_view name) {
  return std::make_unique<PartitionBackend>(name);
}

}  // namespace hone::backend::partition
