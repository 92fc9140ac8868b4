# FFmpeg's libraries, for the video plugin. Defines the target libav_library when all of them are found.
find_path(LIBAV_INCLUDE libavformat/avformat.h)
find_library(LIBAV_FORMAT_LIBRARY avformat)
find_library(LIBAV_CODEC_LIBRARY avcodec)
find_library(LIBAV_UTIL_LIBRARY avutil)
find_library(LIBAV_SWSCALE_LIBRARY swscale)
mark_as_advanced(LIBAV_INCLUDE LIBAV_FORMAT_LIBRARY LIBAV_CODEC_LIBRARY LIBAV_UTIL_LIBRARY LIBAV_SWSCALE_LIBRARY)

if(NOT LIBAV_INCLUDE OR NOT LIBAV_FORMAT_LIBRARY OR NOT LIBAV_CODEC_LIBRARY OR NOT LIBAV_UTIL_LIBRARY
   OR NOT LIBAV_SWSCALE_LIBRARY)
  message(STATUS "FFmpeg's libraries not found: videos are left out "
                 "(apt install libavformat-dev libavcodec-dev libavutil-dev libswscale-dev)")
  return()
endif()

add_library(libav_library INTERFACE IMPORTED)
target_include_directories(libav_library SYSTEM INTERFACE ${LIBAV_INCLUDE})
target_link_libraries(libav_library INTERFACE
  ${LIBAV_FORMAT_LIBRARY} ${LIBAV_CODEC_LIBRARY} ${LIBAV_SWSCALE_LIBRARY} ${LIBAV_UTIL_LIBRARY})
