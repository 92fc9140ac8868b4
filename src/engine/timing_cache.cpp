// See timing_cache.hpp.
#include "engine/timing_cache.hpp"

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/json.hpp"

namespace hone::engine {
namespace {

/// Another one whenever tactics come or change: a cached step would never see them.
constexpr int kVersion = 2;
constexpr uint64_t kMaxFileBytes = 64u << 20;

uint64_t hash(const std::string& text) {
  uint64_t value = 1469598103934665603ull;  // FNV-1a
  for (const char c : text) value = (value ^ static_cast<unsigned char>(c)) * 1099511628211ull;
  return value;
}

}  // namespace

TimingCache::TimingCache(const std::filesystem::path& folder, const std::string& fingerprint, int threads)
    : fingerprint_(fmt::format("{}; {} threads", fingerprint, threads)) {
  if (folder.empty()) return;
  file_ = folder / fmt::format("timings-{:016x}.json", hash(fingerprint_));
  try {
    if (!std::filesystem::exists(file_)) return;
    const Json json = Json::parse(base::read_file(file_, kMaxFileBytes));
    if (json.at("version") != kVersion || json.at("fingerprint") != fingerprint_) return;
    for (const auto& [signature, item] : json.at("steps").items()) {
      TimingEntry entry;
      entry.chosen = item.at("chosen").get<std::string>();
      for (const auto& [tactic, time] : item.at("times").items()) {
        entry.times[tactic] = {time.at(0).get<double>(), time.at(1).get<double>(), time.at(2).get<int>()};
      }
      if (item.contains("refusals")) entry.refusals = item["refusals"].get<std::vector<std::string>>();
      entries_[signature] = std::move(entry);
    }
  } catch (const std::exception&) {
    entries_.clear();
  }
}

const TimingEntry* TimingCache::find(const std::string& signature) const {
  const auto found = entries_.find(signature);
  return found == entries_.end() ? nullptr : &found->second;
}

void TimingCache::set(const std::string& signature, TimingEntry entry) {
  entries_[signature] = std::move(entry);
  changed_ = true;
}

void TimingCache::save() const {
  if (file_.empty() || !changed_) return;
  Json steps = Json::object();
  for (const auto& [signature, entry] : entries_) {
    Json times = Json::object();
    for (const auto& [tactic, time] : entry.times)
      times[tactic] = {time.median_us, time.lower_quartile_us, time.samples};
    steps[signature] = {{"chosen", entry.chosen}, {"times", std::move(times)}, {"refusals", entry.refusals}};
  }
  try {
    std::filesystem::create_directories(file_.parent_path());
    base::write_file_atomic(
        file_, Json{{"version", kVersion}, {"fingerprint", fingerprint_}, {"steps", steps}}.dump(1));
  } catch (const std::exception&) {
    // A read-only home or a full disk costs the next build its head start, nothing else.
  }
}

}  // namespace hone::engine
