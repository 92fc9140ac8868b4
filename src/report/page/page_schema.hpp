// Generates the page's types (web/src/schema.ts) from the structs of the results.
#pragma once

#include <string>

namespace hone::report {

/// The TypeScript declarations of all types in a report.
std::string page_schema();

}  // namespace hone::report
