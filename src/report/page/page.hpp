// The report as one file: the page that web/ is built to, with its data inside.
#pragma once

#include <string>
#include <string_view>

#include "report/page/document.hpp"

namespace hone::report {

/// The page without data; it asks the server it came from.
std::string_view page_asset();

/// The page with the report inside, which needs no network.
std::string page_with(const Report& report);

/// JSON of the report; numbers of timelines are not part of it.
Json to_json(const Report& report);

/// The policy that the page itself asks for, and that nobody frames it.
std::string page_policy();

/// Deflated as zlib does, for the browser's DecompressionStream('deflate').
std::string deflated(std::string_view bytes);

}  // namespace hone::report
