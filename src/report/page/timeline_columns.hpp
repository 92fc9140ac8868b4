// Packs the timeline's numbers into columns.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "report/page/timeline.hpp"

namespace hone::report {

/// Columns of numbers, one after the other.
class Blob {
 public:
  explicit Blob(Timeline* timeline) : timeline_(*timeline) {}

  template <class T>
  void add(const std::string& name, std::string_view type, const std::vector<T>& values) {
    std::string& blob = timeline_.blob;
    blob.resize((blob.size() + 7) / 8 * 8, '\0');
    timeline_.columns.push_back(
        {name, type, static_cast<int64_t>(blob.size()), static_cast<int64_t>(values.size())});
    if (!values.empty()) blob.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
  }

 private:
  Timeline& timeline_;
};

/// Numbers of 48 bits in two columns.
struct WideColumn {
  std::vector<uint32_t> low;
  std::vector<uint16_t> high;

  void push_back(trace::Time value) {
    constexpr trace::Time kMost = (trace::Time{1} << 48) - 1;
    const auto bits = static_cast<uint64_t>(std::clamp<trace::Time>(value, 0, kMost));
    low.push_back(static_cast<uint32_t>(bits));
    high.push_back(static_cast<uint16_t>(bits >> 32));
  }
  void write(Blob* blob, const std::string& name) const {
    blob->add(name + "_lo", "u32", low);
    blob->add(name + "_hi", "u16", high);
  }
};

}  // namespace hone::report
