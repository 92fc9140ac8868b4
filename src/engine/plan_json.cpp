// See plan_json.hpp.
#include "engine/plan_json.hpp"

#include <algorithm>

#include "base/error.hpp"

namespace hone::engine {
namespace {

/// Limit on the name of a processor or GPU with versions, because errors quote it.
constexpr size_t kMostFingerprintBytes = 1000;

std::vector<EnginePlace> read_places(const Json& json) {
  std::vector<EnginePlace> result;
  for (const Json& item : json) {
    result.push_back({item.at("fingerprint").get<std::string>()});
    if (const size_t bytes = result.back().fingerprint.size(); bytes > kMostFingerprintBytes)
      fail_bad_input("field 'fingerprint' holds {} bytes", bytes);
  }
  if (result.size() != 1)
    fail_bad_input("field 'places' holds {} places, this program runs engines of one", result.size());
  return result;
}

std::vector<NumericPolicy> read_policies(const Json& json) {
  std::vector<NumericPolicy> result;
  for (const Json& item : json) {
    result.push_back(parse_policy(item.get<std::string>()));
    if (std::count(result.begin(), result.end(), result.back()) > 1)
      fail_bad_input("field 'policies' names {} twice", policy_name(result.back()));
  }
  if (result.empty()) fail_bad_input("field 'policies' names none");
  return result;
}

Plans read_plan_table(const Json& json, const Engine& engine) {
  Plans result;
  for (const auto& [text, item] : json.items()) {
    StepKey key = parse_step_key(text);
    if (static_cast<size_t>(key.node) >= engine.graph->nodes.size())
      fail_bad_input("field 'plans' names step '{}' of {} nodes", text, engine.graph->nodes.size());
    StepPlan plan{parse_tactic_id(item.at("tactic").get<std::string>()),
                  parse_layout(item.at("layout").get<std::string>()),
                  parse_policy(item.at("policy").get<std::string>()), item.at("place").get<int32_t>()};
    // Steps that need fp32 may use it in any engine.
    if (plan.policy != policy_of(Precision::kFp32) &&
        std::find(engine.policies.begin(), engine.policies.end(), plan.policy) == engine.policies.end())
      fail_bad_input("the plan of step '{}' is in {}, which field 'policies' does not name", text,
                     policy_name(plan.policy));
    if (plan.place < 0 || static_cast<size_t>(plan.place) >= engine.places.size())
      fail_bad_input("the plan of step '{}' names place {} of {}", text, plan.place, engine.places.size());
    result[std::move(key)] = std::move(plan);
  }
  return result;
}

Json plans_to_json(const Plans& plans) {
  Json result = Json::object();
  for (const auto& [key, plan] : plans) {
    result[key.text()] = {{"tactic", plan.tactic.text()},
                          {"layout", layout_name(plan.layout)},
                          {"policy", policy_name(plan.policy)},
                          {"place", plan.place}};
  }
  return result;
}

}  // namespace

void write_plans(const Engine& engine, Json& header) {
  header["places"] = Json::array();
  for (const EnginePlace& place : engine.places)
    header["places"].push_back({{"fingerprint", place.fingerprint}});
  header["policies"] = Json::array();
  for (const NumericPolicy& policy : engine.policies) header["policies"].push_back(policy_name(policy));
  header["plans"] = plans_to_json(engine.plans);
}

void read_plans(const Json& header, Engine& engine) {
  engine.places = read_places(header.at("places"));
  engine.policies = read_policies(header.at("policies"));
  engine.plans = read_plan_table(header.at("plans"), engine);
}

}  // namespace hone::engine
