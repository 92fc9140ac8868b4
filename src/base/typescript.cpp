// See typescript.hpp.
#include "base/typescript.hpp"

namespace hone::base {

std::string quoted(std::string_view text) { return Json(text).dump(); }

void TypeScript::declare(std::string_view name, const std::string& members, const std::string& meanings) {
  interfaces_ += fmt::format("export interface {} {{\n{}}}\n\n", name, members);
  meanings_ += fmt::format("  {}: {{\n{}  }},\n", name, meanings);
}

std::string TypeScript::text() const {
  return "export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };\n\n" +
         interfaces_ +
         "export interface FieldMeaning {\n  text: string;\n  unit: string;\n  origin: string;\n}\n\n"
         "/** What every field is: its definition, its unit, and how its number was come by. */\n"
         "export const fields = {\n" +
         meanings_ + "} as const satisfies Record<string, Record<string, FieldMeaning>>;\n";
}

}  // namespace hone::base
