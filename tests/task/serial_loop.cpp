// The parts of `hone detect` after each other in one loop, as most programs have them: what the pipeline is
// compared with. Decoder, network and encoder keep their own threads; frames are preprocessed on the host.
//
// usage: serial_loop MODEL WEIGHTS INPUT OUTPUT.mp4 DEVICE PRECISION NETWORK_THREADS ENCODER_THREADS
//                    THRESHOLD
//        prints frames, seconds and frames a second
#include <cstdio>
#include <string>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "device/devices.hpp"
#include "media/video.hpp"
#include "task/detector.hpp"
#include "task/draw_detections.hpp"

namespace hone::task {
namespace {

void run(char** arguments) {
  DetectorOptions options;
  options.network.model = arguments[1];
  options.network.load.weights = arguments[2];
  options.network.device = arguments[5];
  options.network.precision = arguments[6];
  options.network.threads = std::stoi(arguments[7]);
  options.network.bind_frames = nullptr;
  options.threshold = std::stof(arguments[9]);
  Detector detector(options);
  const auto source = media::open_source(arguments[3], {});
  media::WriteOptions encoding;
  encoding.time_base = source->info().time_base;
  encoding.frame_rate = source->info().frame_rate;
  encoding.threads = std::stoi(arguments[8]);
  const auto sink = media::create_video(arguments[4], encoding);
  const auto start = base::Clock::now();
  int frames = 0;
  for (media::Frame frame; source->next(&frame); ++frames) {
    const Geometry geometry = detector.place(frame.width, frame.height);
    tensor::Tensor input = detector.make_input();
    detector.fill(frame, geometry, 0, &input);
    const auto outputs = detector.run(0, input, {geometry});
    const auto found = detector.decode(outputs, 0, geometry);
    sink->write(draw_detections(frame, found, detector.names()));
  }
  sink->finish();
  const double seconds = base::seconds_since(start);
  std::printf("%d frames in %.3f s: %.2f FPS\n", frames, seconds, frames / seconds);
}

}  // namespace
}  // namespace hone::task

int main(int argc, char** argv) {
  constexpr int kArguments = 10;
  if (argc != kArguments) {
    std::fprintf(stderr,
                 "serial_loop wants MODEL WEIGHTS INPUT OUTPUT.mp4 DEVICE PRECISION NETWORK_THREADS "
                 "ENCODER_THREADS THRESHOLD\n");
    return 2;
  }
  hone::device::own_process();
  try {
    hone::task::run(argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "serial_loop: %s\n", error.what());
    return 1;
  }
  return 0;
}
