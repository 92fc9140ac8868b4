// See devices.hpp.
#include "device/devices.hpp"

#include <algorithm>
#include <filesystem>

#include "base/plugin.hpp"
#include "base/plugin_manifest.hpp"
#include "device/cpu/cpu_device.hpp"
#include "device/cpu/instructions.hpp"

namespace hone::device {
namespace {

/// The C interface of a plugin with devices: the device of a kind that its manifest names, or an exception of
/// hone's own.
using FindDevice = const engine::Device* (*)(const char* kind, int ordinal, bool own_process);
constexpr const char* kFindDevice = "hone_find_device";

bool process_is_ours = false;

/// Null for the CPU, and for a kind that no plugin has.
const base::OfferedDevice* offer_of(tensor::PlaceKind kind) {
  static const std::vector<base::OfferedDevice> kOffers = base::offered_devices();
  const auto found = std::ranges::find_if(
      kOffers, [name = tensor::place_text({kind})](const auto& offer) { return offer.device->name == name; });
  return found == kOffers.end() ? nullptr : &*found;
}

const engine::Device& plugin_device(tensor::Place place) {
  const base::OfferedDevice* offer = offer_of(place.kind);
  if (offer == nullptr) {
    base::require_readable_manifests();
    fail_environment("no manifest in {} names a plugin for {}; install hone again", base::library_folder(),
                     tensor::place_text(place));
  }
  void* symbol = base::load_plugin_symbol(offer->plugin->name, kFindDevice);
  return *reinterpret_cast<FindDevice>(symbol)(offer->device->name.c_str(), place.ordinal, process_is_ours);
}

/// The first place of the kind of device with which the fingerprint begins; the CPU for one that no plugin
/// has.
tensor::Place first_place_of(std::string_view fingerprint) {
  for (const base::OfferedDevice& offer : base::offered_devices()) {
    if (fingerprint.starts_with(offer.device->name + ";")) return tensor::parse_place(offer.device->name);
  }
  if (!fingerprint.starts_with("cpu;")) base::require_readable_manifests();
  return {};
}

}  // namespace

void own_process() { process_is_ours = true; }

const engine::Device& find_device(tensor::Place place) {
  return place.kind == tensor::PlaceKind::kCpu ? cpu::cpu_device() : plugin_device(place);
}

const engine::Device& find_device(std::string_view text) { return find_device(tensor::parse_place(text)); }

const engine::Device& portable_device(std::string_view text, std::string_view level) {
  if (tensor::parse_place(text).kind != tensor::PlaceKind::kCpu)
    fail_usage("portable engines are for the cpu, and {} is named; one for cuda runs on GPUs of its own kind",
               text);
  cpu::narrow_to(cpu::parse_level(level));
  return cpu::cpu_device();
}

void require_device(std::string_view text) {
  const base::OfferedDevice* offer = offer_of(tensor::parse_place(text).kind);
  if (offer == nullptr || offer->device->driver_files.empty()) return;
  const auto exists = [](const std::string& file) { return std::filesystem::exists(file); };
  if (std::ranges::none_of(offer->device->driver_files, exists))
    fail_environment("{}", offer->device->without_driver);
}

const engine::Device& device_of_fingerprint(const std::string& fingerprint,
                                            std::optional<tensor::Place> place) {
  const tensor::Place first = first_place_of(fingerprint);
  if (place && place->kind != first.kind)
    fail_usage("the engine was built for '{}', not for {}", fingerprint, tensor::place_text(*place));
  const engine::Device& device = find_device(place.value_or(first));
  if (first.kind == tensor::PlaceKind::kCpu) {
    if (const Refusal refusal = cpu::refuse_engine(fingerprint)) fail_environment("{}", refusal.text());
  } else if (device.fingerprint() != fingerprint) {
    fail_environment("the engine was built for '{}', this is '{}'; build it again here", fingerprint,
                     device.fingerprint());
  }
  return device;
}

}  // namespace hone::device
