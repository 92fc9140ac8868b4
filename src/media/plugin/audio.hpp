// Copies the audio of one file into another, packet by packet.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "media/plugin/libav.hpp"

namespace hone::media {

/// Used by one thread.
class AudioCopy {
 public:
  /// Adds the audio streams that the target's format can hold; notes name those that it cannot.
  AudioCopy(const std::string& file, AVFormatContext* target, std::vector<std::string>* notes);
  /// Writes the audio before this time; returns a negative number for an error of FFmpeg.
  int write_until(double seconds);

 private:
  bool read();
  double packet_seconds() const;

  InputPointer source_;
  AVFormatContext* target_;
  PacketPointer packet_;
  bool waiting_ = false;  ///< a packet was read but not yet written
  std::map<int, int> streams_;
};

}  // namespace hone::media
