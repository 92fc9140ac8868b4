# Third-party libraries; docs/DEPENDENCIES.md says why each one is here.
find_package(nlohmann_json REQUIRED)
find_package(fmt REQUIRED)
find_package(CLI11 REQUIRED)
find_package(Protobuf REQUIRED)
find_package(OpenMP REQUIRED COMPONENTS CXX)
if(HONE_SANITIZE MATCHES "thread")
  # Archer tells ThreadSanitizer how OpenMP synchronizes. It lies beside libomp, which looks for it only on the
  # search paths of the program and then says nothing, so it is linked.
  get_filename_component(openmp_folder ${OpenMP_omp_LIBRARY} DIRECTORY)
  find_library(ARCHER_LIBRARY archer HINTS ${openmp_folder} REQUIRED)
  target_link_libraries(OpenMP::OpenMP_CXX INTERFACE
    -Wl,--push-state,--no-as-needed ${ARCHER_LIBRARY} -Wl,--pop-state)
endif()
find_package(ZLIB REQUIRED)
find_package(SQLite3 REQUIRED)
find_package(simdjson REQUIRED)

add_library(onnx_proto_library INTERFACE)
find_library(ONNX_PROTO_LIBRARY onnx_proto REQUIRED)
find_path(ONNX_PROTO_INCLUDE onnx/onnx-ml.pb.h REQUIRED)
target_include_directories(onnx_proto_library SYSTEM INTERFACE ${ONNX_PROTO_INCLUDE})
target_compile_definitions(onnx_proto_library INTERFACE ONNX_ML=1 ONNX_NAMESPACE=onnx)
target_link_libraries(onnx_proto_library INTERFACE ${ONNX_PROTO_LIBRARY} protobuf::libprotobuf)

# Debian's dnnl-config.cmake asks for OpenCL headers that the CPU engine does not need.
find_library(DNNL_LIBRARY dnnl REQUIRED)
find_path(DNNL_INCLUDE dnnl.hpp REQUIRED)
file(STRINGS ${DNNL_INCLUDE}/oneapi/dnnl/dnnl_version.h version REGEX "define DNNL_VERSION_(MAJOR|MINOR)")
string(REGEX REPLACE ".*MAJOR +([0-9]+).*MINOR +([0-9]+).*" "\\1.\\2" version "${version}")
if(NOT version VERSION_LESS 3)
  message(FATAL_ERROR "oneDNN ${version} was found in ${DNNL_INCLUDE}, and hone is written for oneDNN 2.6, whose "
    "interface differs. Install 2.6 and name its prefix with -DCMAKE_PREFIX_PATH, or run a release archive "
    "(./hone release on Debian 12), which brings its own.")
endif()
add_library(dnnl_library INTERFACE)
target_include_directories(dnnl_library SYSTEM INTERFACE ${DNNL_INCLUDE})
target_link_libraries(dnnl_library INTERFACE ${DNNL_LIBRARY})
