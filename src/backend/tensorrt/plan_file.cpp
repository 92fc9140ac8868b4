// See plan_file.hpp.
#include "backend/tensorrt/plan_file.hpp"

#include <sys/stat.h>

#include <fstream>
#include <random>

#include "base/file.hpp"
#include "base/read_described.hpp"
#include "base/sha256.hpp"

namespace hone::base {

template <>
struct Description<backend::tensorrt::PlanRecord> {
  using Record = backend::tensorrt::PlanRecord;
  static constexpr std::string_view kName = "PlanRecord";
  static constexpr std::tuple kFields{
      Field{"model", &Record::model, "Model, as it was named"},
      Field{"precision", &Record::precision, "Precision of the run"},
      Field{"typing", &Record::typing, "Who chose the types of layers"},
      Field{"tensorrt", &Record::tensorrt, "Version of the library"},
      Field{"gpu", &Record::gpu, "GPU that it was built on"},
      Field{"tactics", &Record::tactics, "Sources of tactics"},
      Field{"level", &Record::level, "Level of the builder"},
      at_least(0, Field{"build_seconds", &Record::build_seconds, "Time of the build", unit::kSeconds,
                        origin::kMeasured})};
};

}  // namespace hone::base

namespace hone::backend::tensorrt {
namespace {

constexpr uint64_t kMostPlanBytes = uint64_t{1} << 35;
constexpr uint64_t kMostRecordBytes = 1 << 24;
constexpr size_t kKeyBytes = 32;
constexpr const char* kProof = "proof";
constexpr const char* kProfiles = "profiles";

std::filesystem::path record_path(std::filesystem::path file) { return file += ".json"; }

/// The file with this user's key, which only those who can read the cache folder know.
std::filesystem::path key_path() { return base::cache_directory() / "tensorrt" / "key"; }

/// The key; empty if there is none.
std::string find_key() {
  std::ifstream file(key_path(), std::ios::binary);
  std::string key{std::istreambuf_iterator<char>(file), {}};
  return key.size() == kKeyBytes ? key : "";
}

std::string make_key() {
  if (std::string key = find_key(); !key.empty()) return key;
  std::error_code ignored;
  std::filesystem::create_directories(key_path().parent_path(), ignored);
  // The folder is closed to other users before the key has a name that they could open.
  ::chmod(key_path().parent_path().c_str(), S_IRWXU);
  std::random_device random;
  std::string key;
  while (key.size() < kKeyBytes) key.push_back(static_cast<char>(random() & 0xff));
  base::write_file_atomic(key_path(), key);
  ::chmod(key_path().c_str(), S_IRUSR | S_IWUSR);
  return key;
}

/// The keyed hash of the plan and of its record without the proof, which is this hash.
std::string proof_of(const std::string& key, const Json& record, const std::string& bytes) {
  Json said = record;
  said.erase(kProof);
  return base::hmac_sha256(key, said.dump() + base::sha256(bytes));
}

Json to_json(const PlanRecord& record) {
  Json json = base::described_json(record);
  json[kProfiles] = record.profiles;
  return json;
}

PlanRecord parse_record(const Json& json) {
  auto record = base::read_described<PlanRecord>(json);
  try {
    record.profiles = json.at(kProfiles).get<decltype(record.profiles)>();
  } catch (const Json::exception&) {
    fail_bad_input("the field '{}' is no list of shapes by input name", kProfiles);
  }
  return record;
}

Json read_record(const std::filesystem::path& file) {
  const std::string text = base::read_file(file, kMostRecordBytes);
  Json json = Json::parse(text, nullptr, false);
  if (!json.is_object()) fail_bad_input("{} is no JSON object: build the plan again", file.string());
  return json;
}

}  // namespace

void write_plan(const std::filesystem::path& file, const Plan& plan) {
  Json record = to_json(plan.record);
  record[kProof] = proof_of(make_key(), record, plan.bytes);
  // A plan without its record counts as foreign, and a record of another plan proves nothing.
  base::write_file_atomic(file, plan.bytes);
  base::write_file_atomic(record_path(file), record.dump(2) + "\n");
}

Plan read_plan(const std::filesystem::path& file, bool trusted) {
  Plan plan;
  plan.bytes = base::read_file(file, kMostPlanBytes);
  if (plan.bytes.empty()) fail_bad_input("{} is empty", file.string());
  const std::filesystem::path beside = record_path(file);
  if (!std::filesystem::exists(beside)) {
    if (trusted) return plan;
    fail_bad_input(
        "{} was not written by hone ({} is missing), and a plan holds code: add --trust if you trust who "
        "made it",
        file.string(), beside.filename().string());
  }
  const Json json = read_record(beside);
  const std::string key = find_key();
  const std::string proof = json.value(kProof, Json()).is_string() ? json[kProof].get<std::string>() : "";
  plan.known = !key.empty() && proof == proof_of(key, json, plan.bytes);
  if (!plan.known && !trusted) {
    fail_bad_input(
        "{} is not the file that this user's hone wrote, and a plan holds code: build it again, or add "
        "--trust if you "
        "trust who made it",
        file.string());
  }
  try {
    plan.record = parse_record(json);
  } catch (const Error& error) {
    throw error.within(beside.string());
  }
  return plan;
}

std::filesystem::path cached_plan_path(const std::string& key) {
  return base::cache_directory() / "tensorrt" / (key + ".plan");
}

}  // namespace hone::backend::tensorrt
