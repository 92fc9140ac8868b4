// The page's types (web/src/schema.ts), made from the structs that hold the results.
#pragma once

#include <string>

namespace hone::report {

/// TypeScript of everything in a report.
std::string page_schema();

}  // namespace hone::report
