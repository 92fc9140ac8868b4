// Limits of a darknet model; a file beyond one is refused before memory is taken for it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hone::importer::darknet {

/// The largest cfg file in use has 60 KB.
inline constexpr uint64_t kMaxCfgBytes = 4 << 20;
inline constexpr size_t kMaxSections = 10'000;
/// Numbers in a list: anchors, masks, layers.
inline constexpr size_t kMaxListItems = 10'000;
/// Bounds a window, a stride, a padding, a number of filters, …: products of two still fit 64 bits.
inline constexpr int kMaxSize = 1 << 24;
inline constexpr int kMaxClasses = 1 << 20;
inline constexpr int kMaxBoxes = 4096;  ///< of a cell
inline constexpr int kMaxCells = 4096;  ///< of a detection's side
inline constexpr int kMaxSide = 1 << 20;
/// Bounds the channels of an lrn, which is a product with a square matrix.
inline constexpr int kMaxNormalizedChannels = 4096;
/// Bounds the channels of a detection head; the largest in use has 28,269.
inline constexpr int kMaxHeadChannels = 1 << 20;
/// Numbers that a section gives for one image, and darknet's own bound.
inline constexpr int64_t kMaxVolume = (int64_t{1} << 31) - 1;
/// All layers that all sections read together: routes of routes multiply.
inline constexpr size_t kMaxReads = 200'000;

}  // namespace hone::importer::darknet
