// The devices that engines are built for, by name.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/kernel.hpp"

namespace hone::device {

/// "cpu", "cuda".
std::vector<std::string> device_names();
/// For a program that is hone's own, before its first find_device(): what holds for all users of a device in
/// the process may then be set as suits hone alone, as a GPU's memory for stacks.
void own_process();
/// Usage error for an unknown name; environment error, in one sentence, when the device is not to be had.
const engine::Device& find_device(std::string_view name);
/// Environment error, in one sentence, when no system whatever could use such a device on this machine:
/// nothing is loaded to find out. A device that is there may still refuse a backend.
void require_device(std::string_view name);
/// The device that engines with this fingerprint run on. Environment error when the fingerprint is of another
/// machine.
const engine::Device& device_of_fingerprint(const std::string& fingerprint);

}  // namespace hone::device
