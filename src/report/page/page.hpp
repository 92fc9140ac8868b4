// Creates the report as one file: the page that is built from web/, with the data inside.
#pragma once

#include <string>
#include <string_view>

#include "report/page/document.hpp"

namespace hone::report {

/// The page without data; it requests them from the server that delivered it.
std::string_view page_asset();

/// The page with the report inside; it needs no network.
std::string page_with(const Report& report);

/// JSON of the report, without the numbers of timelines.
Json to_json(const Report& report);

/// The content security policy of the page, extended so that no other page can frame it.
std::string page_policy();

/// Compresses in zlib's format, for the browser's DecompressionStream('deflate').
std::string deflated(std::string_view bytes);

}  // namespace hone::report
