// A CUDA binary as nvcc lays it out, with as much of it as readers of code look at.
#pragma once

#include <elf.h>

#include <cstring>
#include <string>
#include <utility>
#include <vector>

namespace hone::trace {

/// One function a name, whose instructions have these opcodes. The file has version 8 of the ABI.
inline std::string fake_cubin(uint32_t architecture,
                              const std::vector<std::pair<std::string, std::vector<uint16_t>>>& functions) {
  std::string names(1, '\0');
  std::string data;
  std::vector<Elf64_Shdr> sections(1);
  const auto add = [&](const std::string& name, uint32_t type, const std::string& content) {
    Elf64_Shdr section{};
    section.sh_name = static_cast<uint32_t>(names.size());
    section.sh_type = type;
    section.sh_offset = sizeof(Elf64_Ehdr) + data.size();
    section.sh_size = content.size();
    names += name + '\0';
    data += content;
    sections.push_back(section);
  };
  for (const auto& [name, opcodes] : functions) {
    std::string code;
    for (const uint16_t opcode : opcodes) {
      std::string instruction(16, '\0');
      std::memcpy(instruction.data(), &opcode, sizeof opcode);
      code += instruction;
    }
    add(".text." + name, SHT_PROGBITS, code);
  }
  add(".nv.info", SHT_PROGBITS, std::string(16, '\x3c'));
  // The names' section holds its own name, so its size is known before it is added.
  add(".shstrtab", SHT_STRTAB, names + ".shstrtab" + '\0');
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_ABIVERSION] = 8;
  header.e_machine = 190;
  header.e_flags = architecture << 8;
  header.e_shoff = sizeof header + data.size();
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = static_cast<uint16_t>(sections.size());
  header.e_shstrndx = static_cast<uint16_t>(sections.size() - 1);
  std::string file(reinterpret_cast<const char*>(&header), sizeof header);
  file += data;
  return file.append(reinterpret_cast<const char*>(sections.data()), sections.size() * sizeof(Elf64_Shdr));
}

}  // namespace hone::trace
