// See names.hpp.
#include "analysis/names.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <span>

#include "trace/format/api_calls.hpp"

namespace hone::analysis {
namespace {

/// Positions of the parts of a demangled signature.
struct Signature {
  size_t begin = 0;     ///< after the return type
  size_t name = 0;      ///< of the last component of the qualified name
  size_t name_end = 0;  ///< before its template arguments
  size_t end = 0;       ///< before the parameters
};

/// Returns the position after the bracket that closes the one at `open`; the end of the text if it is not
/// closed.
size_t after_bracket(std::string_view text, size_t open) {
  int depth = 0;
  for (size_t i = open; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '<' || c == '(' || c == '{') ++depth;
    const bool arrow = c == '>' && text[i - 1] == '-';
    if ((c == '>' && !arrow) || c == ')' || c == '}') --depth;
    if (depth == 0) return i + 1;
  }
  return text.size();
}

/// True if the bracket belongs to the name: `(anonymous namespace)::kernel`, `run(int)::{lambda(int)#1}`.
bool is_part_of_name(std::string_view text, size_t open) {
  return text.substr(after_bracket(text, open)).starts_with("::");
}

Signature parse(std::string_view text) {
  Signature parts;
  parts.name_end = parts.end = text.size();
  bool in_name = true;  // no template arguments seen since the last ::
  for (size_t i = 0; i < text.size();) {
    const char c = text[i];
    if (c == ':' && i + 1 < text.size() && text[i + 1] == ':') {
      parts.name = i + 2;
      in_name = true;
      i += 2;
    } else if (c == ' ') {
      parts.begin = parts.name = i + 1;
      in_name = true;
      ++i;
    } else if (c == '<') {
      if (in_name) parts.name_end = i;
      in_name = false;
      i = after_bracket(text, i);
    } else if (text.substr(i).starts_with("operator()")) {
      i += std::string_view("operator()").size();
    } else if (c == '(' && !is_part_of_name(text, i)) {
      parts.end = i;
      break;
    } else if (c == '(' || c == '{') {
      i = after_bracket(text, i);
    } else {
      ++i;
    }
  }
  if (in_name || parts.name_end < parts.name) parts.name_end = parts.end;
  return parts;
}

constexpr std::array<std::string_view, 6> kDirections = {"unknown", "HtoD", "DtoH", "DtoD", "HtoH", "PtoP"};
constexpr std::array<std::string_view, 6> kMemories = {"unknown", "pageable", "pinned",
                                                       "device",  "array",    "managed"};

bool starts_with_any(std::string_view name, std::span<const std::string_view> prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(),
                     [name](std::string_view prefix) { return name.starts_with(prefix); });
}

}  // namespace

std::string base_name(std::string_view demangled) {
  const Signature parts = parse(demangled);
  if (parts.name_end <= parts.name) return std::string(demangled);
  return std::string(demangled.substr(parts.name, parts.name_end - parts.name));
}

std::string without_parameters(std::string_view demangled) {
  const Signature parts = parse(demangled);
  if (parts.end <= parts.begin) return std::string(demangled);
  return std::string(demangled.substr(parts.begin, parts.end - parts.begin));
}

namespace {

/// The begin of the class or namespace name that ends at the end of the text.
size_t qualifier_begin(std::string_view text) {
  constexpr std::string_view kAnonymous = "(anonymous namespace)";
  if (text.ends_with(kAnonymous)) return text.size() - kAnonymous.size();
  size_t at = text.size();
  if (text.ends_with('>')) {
    int depth = 0;
    while (at > 0) {
      --at;
      depth += text[at] == '>' ? 1 : text[at] == '<' ? -1 : 0;
      if (depth == 0) break;
    }
  }
  while (at > 0 && (std::isalnum(static_cast<unsigned char>(text[at - 1])) != 0 || text[at - 1] == '_')) --at;
  return at;
}

}  // namespace

std::string brief_name(std::string_view demangled) {
  const std::string name = without_parameters(demangled);
  std::string result;
  for (size_t i = 0; i < name.size(); ++i) {
    if (name.compare(i, 2, "::") != 0) {
      result += name[i];
      continue;
    }
    result.resize(qualifier_begin(result));
    ++i;
  }
  return result;
}

std::string_view api_name(std::string_view recorded) {
  const std::string_view name = trace::plain_api_name(recorded);
  const size_t mark = name.rfind("_v");
  const bool version = mark != std::string_view::npos && mark + 2 < name.size() &&
                       name.find_first_not_of("0123456789", mark + 2) == std::string_view::npos;
  return version ? name.substr(0, mark) : name;
}

std::string_view severity_name(trace::Severity severity) {
  constexpr std::array<std::string_view, 3> kNames = {"note", "doubt", "loss"};
  return kNames.at(static_cast<size_t>(severity));
}

std::string_view direction_name(trace::CopyDirection direction) {
  return kDirections.at(static_cast<size_t>(direction));
}

std::string_view memory_name(trace::MemoryKind kind) { return kMemories.at(static_cast<size_t>(kind)); }

std::string lower_case(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return result;
}

bool is_communication_kernel(std::string_view name) {
  constexpr std::array<std::string_view, 4> kPrefixes = {"nccl", "rccl", "nvshmem", "msccl"};
  const std::string base = base_name(name);
  return starts_with_any(base, kPrefixes);
}

bool is_host_communication(std::string_view name) {
  constexpr std::array<std::string_view, 3> kPrefixes = {"gloo:", "mpi:", "ucc:"};
  return starts_with_any(name, kPrefixes);
}

bool is_data_loading(std::string_view name) {
  constexpr std::array<std::string_view, 2> kPrefixes = {"enumerate(DataLoader)#", "enumerate(DataPipe)#"};
  return starts_with_any(name, kPrefixes);
}

}  // namespace hone::analysis
