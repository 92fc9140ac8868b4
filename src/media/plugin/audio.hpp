// The sound of one file in another, packet by packet.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "media/plugin/libav.hpp"

namespace hone::media {

/// Used by one thread.
class AudioCopy {
 public:
  /// Adds the streams of sound that the target's format can hold; notes say which it cannot.
  AudioCopy(const std::string& file, AVFormatContext* target, std::vector<std::string>* notes);
  /// Writes what is heard before this time; less than 0 for an error of FFmpeg's.
  int write_until(double seconds);

 private:
  bool read();
  double packet_seconds() const;

  InputPointer source_;
  AVFormatContext* target_;
  PacketPointer packet_;
  bool waiting_ = false;  ///< a packet has been read and not written
  std::map<int, int> streams_;
};

}  // namespace hone::media
