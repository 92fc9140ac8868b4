// The devices that engines are built for, by place.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "engine/kernel.hpp"
#include "tensor/place.hpp"

namespace hone::device {

/// For a program that is hone's own, before its first find_device(): settings that hold for all users of a
/// device in the process may then be chosen for hone only, such as a GPU's memory for stacks.
void own_process();
/// Environment error, in one sentence, when the device is not to be had; for a GPU that is not there it says
/// which ones are.
const engine::Device& find_device(tensor::Place place);
/// Finds the device for "cpu", "cuda", "cuda:1"; usage error as tensor::parse_place has it.
const engine::Device& find_device(std::string_view text);
/// The CPU narrowed to a level of instructions ("AVX2"), for the rest of the process: its engines run on
/// every CPU with them. Usage error for another device or level, environment error where the CPU lacks the
/// level or kernels of the process use a higher one already.
const engine::Device& portable_device(std::string_view text, std::string_view level);
/// Environment error, in one sentence, when no system whatever could use such a device on this machine:
/// nothing is loaded to find out. A device that is there may still refuse a backend. Usage error as
/// tensor::parse_place has it.
void require_device(std::string_view text);
/// The device that an engine with this fingerprint runs on: at `place`, else the first one of its kind.
/// Usage error for a place of another kind, environment error when the fingerprint is of another device.
const engine::Device& device_of_fingerprint(const std::string& fingerprint,
                                            std::optional<tensor::Place> place = {});

}  // namespace hone::device
