// What a device did, in answers of workers.
#pragma once

#include "base/json.hpp"
#include "engine/device_record.hpp"

namespace hone::bench {

Json to_json(const engine::DeviceRecord& record);
/// Bad input naming the field when one is missing, has another type or names a row that is not there.
engine::DeviceRecord parse_device_record(const Json& json);

}  // namespace hone::bench
