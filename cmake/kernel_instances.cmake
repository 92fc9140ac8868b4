# Files of kernels that hold nothing but instances of one type and kind: together they take the compiler of CUDA minutes, apart
# they share the processor. The build writes them from the lists below.
#
#   hone_kernel_instances(OUT FOLDER…)   sets OUT to the files of these folders of src/device/cuda/plugin/kernels/gemm
set(hone_instances_folder ${CMAKE_BINARY_DIR}/generated/kernels)

# name, header of the kernels, definition
function(hone_kernel_instance name header definition)
  file(CONFIGURE OUTPUT ${hone_instances_folder}/${name}.cu @ONLY CONTENT
"// Written by cmake/kernel_instances.cmake.
#include \"device/cuda/plugin/kernels/gemm/@header@\"

namespace hone::device::cuda {

@definition@

}  // namespace hone::device::cuda
")
  set(hone_instances ${hone_instances} ${hone_instances_folder}/${name}.cu PARENT_SCOPE)
endfunction()

function(hone_kernel_instances out)
  set(hone_instances)
  set(types half:Half:__half bfloat16:BFloat16:__nv_bfloat16)
  foreach(folder ${ARGN})
    if(folder STREQUAL "bytes")
      foreach(instance "add:Add:Bytes, ByteFunction::kAdd" "bounds:Bounds:Bytes, ByteFunction::kBounds"
          "bounds_narrow:BoundsNarrow:Bytes, ByteFunction::kBounds, kNarrowRowBytes"
          "float_bounds:FloatBounds:float, ByteFunction::kBounds" "gelu:Gelu:Bytes, ByteFunction::kGelu"
          "half_add:HalfAdd:__half, ByteFunction::kAdd" "half_bounds:HalfBounds:__half, ByteFunction::kBounds"
          "swish:Swish:Bytes, ByteFunction::kSwish")
        string(REGEX MATCH "^([a-z_]+):([A-Za-z]+):(.*)$" _ "${instance}")
        hone_kernel_instance(bytes/byte_gemm_${CMAKE_MATCH_1} bytes/byte_gemm_kernels.cuh
          "const WarpgroupTable kByte${CMAKE_MATCH_2} = byte_table<${CMAKE_MATCH_3}>();")
      endforeach()
      hone_kernel_instance(bytes/byte_gemm_sum bytes/byte_gemm_kernels.cuh
        "const WarpgroupTable kByteSum = byte_sum_table<kFewestSumFilters>();")
    endif()
    foreach(type ${types})
      string(REGEX MATCH "^(.*):(.*):(.*)$" _ ${type})
      set(name ${CMAKE_MATCH_1})
      set(title ${CMAKE_MATCH_2})
      set(element ${CMAKE_MATCH_3})
      if(folder STREQUAL "implicit")
        foreach(loads Pointwise Window)
          foreach(size Large Small)
            string(TOLOWER "${loads}_${size}" kind)
            string(TOUPPER ${size} tiles)
            hone_kernel_instance(implicit/implicit_gemm_${name}_${kind} implicit/implicit_gemm_kernels.cuh
              "HONE_${tiles}_TILES(k${title}${loads}${size}, ${element}, ${loads}Pixels);")
          endforeach()
        endforeach()
      elseif(folder STREQUAL "resident")
        hone_kernel_instance(resident/resident_gemm_${name}_pixels resident/resident_gemm_kernels.cuh
          "HONE_RESIDENT_TILES(kResident${title}Pixels, ${element}, PixelTile);")
        hone_kernel_instance(resident/resident_gemm_${name}_window resident/resident_gemm_kernels.cuh
          "HONE_RESIDENT_TILES(kResident${title}Window, ${element}, WindowTile);")
      elseif(folder STREQUAL "warp")
        hone_kernel_instance(warp/warp_gemm_${name} warp/warp_gemm_kernel.cuh
          "const void* ${name}_warp_gemm(size_t shape, StreamKind kind) { return warp_gemm_of<${element}>(shape, kind); }")
      elseif(folder STREQUAL "warpgroup")
        foreach(kind Add Bounds Gelu GeluTanh HardSwish Leaky Swish)
          string(TOLOWER ${kind} file)
          hone_kernel_instance(warpgroup/warpgroup_gemm_${name}_${file} warpgroup/warpgroup_gemm_kernels.cuh
            "const WarpgroupTable k${title}${kind} = warpgroup_table<StreamKernels<${element}, StreamKind::k${kind}>>();")
        endforeach()
        foreach(instance "block:Block:BlockKernels<${element}>" "split:Split:SplitKernels<${element}, false>"
            "split_steps:SplitSteps:SplitKernels<${element}, true>"
            "sum:Sum:SumsOf<StreamKernels<${element}, StreamKind::kBounds>>"
            "sum_split:SumSplit:SumsOf<SplitKernels<${element}, false>>")
          string(REGEX MATCH "^([a-z_]+):([A-Za-z]+):(.*)$" _ "${instance}")
          hone_kernel_instance(warpgroup/warpgroup_gemm_${name}_${CMAKE_MATCH_1} warpgroup/warpgroup_gemm_kernels.cuh
            "const WarpgroupTable k${title}${CMAKE_MATCH_2} = warpgroup_table<${CMAKE_MATCH_3}>();")
        endforeach()
        hone_kernel_instance(warpgroup/warpgroup_pooled_${name} warpgroup/warpgroup_gemm_pooled.cuh
          "const PooledTable k${title}Pooled = pooled_table<${element}>();")
      endif()
    endforeach()
    if(folder STREQUAL "implicit")
      foreach(loads Pointwise Window)
        string(TOLOWER ${loads} kind)
        hone_kernel_instance(implicit/implicit_gemm_float_${kind} implicit/implicit_gemm_kernels.cuh
          "HONE_WIDE_TILES(kFloat${loads}, float, ${loads}Pixels);")
        hone_kernel_instance(implicit/implicit_gemm_tf32_${kind} implicit/implicit_gemm_kernels.cuh
          "HONE_WIDE_TILES(kTf32${loads}, ptx::Tf32, ${loads}Pixels);")
      endforeach()
    endif()
  endforeach()
  set(${out} ${hone_instances} PARENT_SCOPE)
endfunction()
