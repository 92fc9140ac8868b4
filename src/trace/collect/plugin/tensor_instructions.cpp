// See tensor_instructions.hpp.
#include "trace/collect/plugin/tensor_instructions.hpp"

#include <elf.h>

#include <array>
#include <cstring>
#include <mutex>
#include <vector>

namespace hone::trace::inject {
namespace {

constexpr uint16_t kCudaMachine = 190;  // machine number EM_CUDA
constexpr uint32_t kOldest = 70;        // instructions have 16 bytes since sm_70
constexpr uint32_t kNewest = 121;
constexpr size_t kInstruction = 16;
constexpr std::string_view kCode = ".text.";

/// The lowest 12 bits of the instructions, found by compiling each instruction of PTX for sm_75 to sm_120
/// with nvcc 13.0.
constexpr std::array<uint16_t, 16> kTensorOpcodes = {
    0x237, 0x23c, 0x23d, 0x23f,  // mma of integers, halves and tf32, bits, doubles
    0x27a, 0x47f,                // mma of 8 and of 4 bits in floating point
    0x9f0, 0x9f1, 0x9f2, 0x9f3,  // wgmma: halves and tf32, integers, bits, 8 bits in floating point
    0xdf0, 0xdf1, 0xdf2, 0xdf3,  // the same with the left side in registers
    0x5ea, 0x9ea                 // tcgen05.mma, the left side in shared and in tensor memory
};

/// A table by opcode, for speed: modules may hold hundreds of megabytes of code.
constexpr std::array<bool, 4096> kIsTensorOpcode = [] {
  std::array<bool, 4096> is{};
  for (const uint16_t opcode : kTensorOpcodes) is.at(opcode) = true;
  return is;
}();

/// Reads a struct at an offset of the file; false if the file is too short.
template <class T>
bool load(std::string_view file, uint64_t offset, T* value) {
  if (offset > file.size() || file.size() - offset < sizeof(T)) return false;
  std::memcpy(value, file.data() + offset, sizeof(T));
  return true;
}

std::string_view part(std::string_view file, uint64_t offset, uint64_t size) {
  if (offset > file.size() || file.size() - offset < size) return {};
  return file.substr(offset, size);
}

/// The architecture is in the second byte of the flags since version 8 of the ABI, and in the first byte
/// before.
uint32_t architecture(const Elf64_Ehdr& header) {
  constexpr unsigned char kSecondByteSince = 8;
  return header.e_ident[EI_ABIVERSION] >= kSecondByteSince ? header.e_flags >> 8 & 0xff
                                                           : header.e_flags & 0xff;
}

bool has_tensor_instruction(std::string_view code) {
  for (size_t at = 0; at + kInstruction <= code.size(); at += kInstruction) {
    uint16_t bits = 0;
    std::memcpy(&bits, code.data() + at, sizeof bits);
    if (kIsTensorOpcode[bits & 0xfff]) return true;
  }
  return false;
}

struct Known {
  std::mutex mutex;
  std::map<std::string, raw::TensorUse, std::less<>> by_name;
  std::vector<raw::TensorUse> by_id;  ///< answers given; unknown ones are looked up again
};

/// Never destroyed: records arrive while the process exits.
Known& known() {
  static auto* all = new Known;
  return *all;
}

}  // namespace

std::map<std::string, bool, std::less<>> tensor_functions(std::string_view cubin) {
  Elf64_Ehdr header{};
  if (!load(cubin, 0, &header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
      header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_machine != kCudaMachine ||
      header.e_shentsize != sizeof(Elf64_Shdr))
    return {};
  if (architecture(header) < kOldest || architecture(header) > kNewest) return {};
  Elf64_Shdr names{};
  if (!load(cubin, header.e_shoff + uint64_t{header.e_shstrndx} * sizeof names, &names)) return {};
  const std::string_view texts = part(cubin, names.sh_offset, names.sh_size);
  std::map<std::string, bool, std::less<>> functions;
  for (uint64_t i = 0; i < header.e_shnum; ++i) {
    Elf64_Shdr section{};
    if (!load(cubin, header.e_shoff + i * sizeof section, &section)) return {};
    if (section.sh_type != SHT_PROGBITS || section.sh_name >= texts.size()) continue;
    std::string_view name = texts.substr(section.sh_name);
    name = name.substr(0, name.find('\0'));
    if (!name.starts_with(kCode)) continue;
    functions.emplace(name.substr(kCode.size()),
                      has_tensor_instruction(part(cubin, section.sh_offset, section.sh_size)));
  }
  return functions;
}

void note_module(std::string_view cubin) {
  const auto functions = tensor_functions(cubin);
  Known& all = known();
  const std::lock_guard lock(all.mutex);
  for (const auto& [name, uses] : functions) {
    const raw::TensorUse use = uses ? raw::TensorUse::kYes : raw::TensorUse::kNo;
    const auto [found, is_new] = all.by_name.try_emplace(name, use);
    if (!is_new && found->second != use) found->second = raw::TensorUse::kUnknown;
  }
}

raw::TensorUse tensor_use(std::string_view name, uint32_t id) {
  Known& all = known();
  const std::lock_guard lock(all.mutex);
  if (all.by_id.size() <= id) all.by_id.resize(id + 1, raw::TensorUse::kUnknown);
  raw::TensorUse& use = all.by_id[id];
  if (use != raw::TensorUse::kUnknown) return use;
  if (const auto found = all.by_name.find(name); found != all.by_name.end()) use = found->second;
  return use;
}

}  // namespace hone::trace::inject
