# OpenCV's modules core, imgproc and imgcodecs, for the image plugin. Debian's module packages come without
# OpenCVConfig.cmake. Defines the target opencv_library when all three are found.
find_path(OPENCV_INCLUDE opencv2/imgcodecs.hpp PATH_SUFFIXES opencv4)
find_library(OPENCV_CORE_LIBRARY opencv_core)
find_library(OPENCV_IMGPROC_LIBRARY opencv_imgproc)
find_library(OPENCV_IMGCODECS_LIBRARY opencv_imgcodecs)
mark_as_advanced(OPENCV_INCLUDE OPENCV_CORE_LIBRARY OPENCV_IMGPROC_LIBRARY OPENCV_IMGCODECS_LIBRARY)

if(NOT OPENCV_INCLUDE OR NOT OPENCV_CORE_LIBRARY OR NOT OPENCV_IMGPROC_LIBRARY OR NOT OPENCV_IMGCODECS_LIBRARY)
  message(STATUS "OpenCV not found: PNG and JPEG inputs are left out "
                 "(apt install libopencv-core-dev libopencv-imgproc-dev libopencv-imgcodecs-dev)")
  return()
endif()

add_library(opencv_library INTERFACE IMPORTED)
target_include_directories(opencv_library INTERFACE ${OPENCV_INCLUDE})
target_link_libraries(opencv_library INTERFACE
  ${OPENCV_IMGCODECS_LIBRARY} ${OPENCV_IMGPROC_LIBRARY} ${OPENCV_CORE_LIBRARY})
