// The JSON form of a device's work in answers of workers.
#pragma once

#include "base/device_record.hpp"
#include "base/json.hpp"

namespace hone::bench {

Json to_json(const base::DeviceRecord& record);
/// Bad input names the field if one is missing, has another type, or refers to a row that does not exist.
base::DeviceRecord parse_device_record(const Json& json);

}  // namespace hone::bench
