// Limits of a darknet model; a file that exceeds one is refused before memory is allocated for it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hone::importer::darknet {

/// The largest cfg file in use has 60 KB.
inline constexpr uint64_t kMaxCfgBytes = 4 << 20;
inline constexpr size_t kMaxSections = 10'000;
/// Numbers in a list: anchors, masks, layers.
inline constexpr size_t kMaxListItems = 10'000;
/// Limits a window, a stride, a padding, a number of filters and so on: products of two of them fit into 64
/// bits.
inline constexpr int kMaxSize = 1 << 24;
inline constexpr int kMaxClasses = 1 << 20;
inline constexpr int kMaxBoxes = 4096;  ///< per cell
inline constexpr int kMaxCells = 4096;  ///< along one side of a detection
inline constexpr int kMaxSide = 1 << 20;
/// Limits the channels of an lrn, which is a product with a square matrix.
inline constexpr int kMaxNormalizedChannels = 4096;
/// Limits the channels of a detection head; the largest in use has 28,269.
inline constexpr int kMaxHeadChannels = 1 << 20;
/// Number of output values of a section for one image; darknet has the same limit.
inline constexpr int64_t kMaxVolume = (int64_t{1} << 31) - 1;
/// Total number of layers that all sections read: routes of routes multiply.
inline constexpr size_t kMaxReads = 200'000;

}  // namespace hone::importer::darknet
