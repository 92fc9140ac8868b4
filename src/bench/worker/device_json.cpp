// See device_json.hpp.
#include "bench/worker/device_json.hpp"

#include <utility>

#include "base/read_described.hpp"
#include "bench/worker/json_rows.hpp"
#include "bench/worker/protocol_schema.hpp"

namespace hone::bench {
namespace {

using base::DeviceLaunch;
using base::DeviceRecord;
using base::DeviceWork;

/// With `optional`, -1 is allowed and means none.
template <class T>
void check_index(int64_t index, const std::vector<T>& rows, const char* field, bool optional = false) {
  if (optional && index == -1) return;
  if (index < 0 || std::cmp_greater_equal(index, rows.size()))
    fail_bad_input("the field '{}' names row {} of {}", field, index, rows.size());
}

int32_t narrow(int64_t value) {
  if (!std::in_range<int32_t>(value)) fail_bad_input("the field 'launches' holds {}", value);
  return static_cast<int32_t>(value);
}

}  // namespace

Json to_json(const DeviceRecord& record) {
  Json calls = Json::array();
  for (const base::DeviceCall& call : record.calls)
    calls.push_back({call.name, call.thread, call.start_ns, call.end_ns, call.waits ? 1 : 0});
  Json work = Json::array();
  for (const DeviceWork& row : record.work)
    work.push_back({static_cast<int>(row.kind), row.name, row.start_ns, row.end_ns, row.call, row.node,
                    row.launch, row.bytes});
  Json launches = Json::array();
  for (const DeviceLaunch& row : record.launches)
    launches.push_back({row.grid[0], row.grid[1], row.grid[2], row.block[0], row.block[1], row.block[2],
                        row.cluster[0], row.cluster[1], row.cluster[2], row.registers_per_thread,
                        row.static_shared_bytes, row.dynamic_shared_bytes, row.local_bytes_per_thread,
                        row.programmatic ? 1 : 0});
  Json nodes = Json::array();
  for (const base::DeviceNode& node : record.nodes) nodes.push_back({node.step});
  return {{"device", base::described_json(record.device)},
          {"texts", record.texts},
          {"calls", std::move(calls)},
          {"work", std::move(work)},
          {"launches", std::move(launches)},
          {"nodes", std::move(nodes)},
          {"notes", record.notes}};
}

DeviceRecord parse_device_record(const Json& json) {
  DeviceRecord record;
  record.device = base::read_described<base::DeviceDescription>(member<Json>(json, "device"), "device");
  record.texts = member<std::vector<std::string>>(json, "texts");
  record.notes = member<std::vector<std::string>>(json, "notes");
  for (const auto& [name, thread, start, end, waits] : rows<5>(json, "calls")) {
    check_index(name, record.texts, "calls");
    record.calls.push_back({name, thread, start, end, waits != 0});
  }
  for (const auto& row : rows<14>(json, "launches")) {
    record.launches.push_back({{narrow(row[0]), narrow(row[1]), narrow(row[2])},
                               {narrow(row[3]), narrow(row[4]), narrow(row[5])},
                               {narrow(row[6]), narrow(row[7]), narrow(row[8])},
                               narrow(row[9]),
                               row[10],
                               row[11],
                               row[12],
                               row[13] != 0});
  }
  for (const auto& [step] : rows<1>(json, "nodes")) {
    check_index(step, record.texts, "nodes");
    record.nodes.push_back({step});
  }
  for (const auto& [kind, name, start, end, call, node, launch, bytes] : rows<8>(json, "work")) {
    if (kind < 0 || kind > static_cast<int64_t>(DeviceWork::Kind::kFill))
      fail_bad_input("the field 'work' holds a row of kind {}", kind);
    const bool kernel = kind == static_cast<int64_t>(DeviceWork::Kind::kKernel);
    check_index(name, record.texts, "work", !kernel);
    check_index(call, record.calls, "work");
    check_index(node, record.nodes, "work", true);
    check_index(launch, record.launches, "work", !kernel);
    record.work.push_back({static_cast<DeviceWork::Kind>(kind), name, start, end, call, node, launch, bytes});
  }
  return record;
}

}  // namespace hone::bench
