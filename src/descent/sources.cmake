target_sources(nustream_core PRIVATE
  descent/averaging.cpp
  descent/batch_means.cpp
  descent/check_rule.cpp
  descent/clip.cpp
  descent/clipped_count.cpp
  descent/gradient_sum.cpp
  descent/kernel.cpp
  descent/kernel_baseline.cpp
  descent/loop.cpp
  descent/matrix_loop.cpp
  descent/norm.cpp
  descent/projection.cpp
  descent/schedule.cpp
  descent/second_moments.cpp
  descent/trail.cpp
  descent/two_stage_loop.cpp)

# One kernel for each instruction set, chosen at run time. Without errno a square root is one instruction.
set_source_files_properties(descent/kernel_baseline.cpp PROPERTIES COMPILE_OPTIONS "-fno-math-errno")
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  target_sources(nustream_core PRIVATE descent/kernel_avx2.cpp descent/kernel_avx512.cpp)
  set_source_files_properties(descent/kernel_avx2.cpp PROPERTIES COMPILE_OPTIONS "-fno-math-errno;-mavx2")
  set_source_files_properties(descent/kernel_avx512.cpp PROPERTIES
    COMPILE_OPTIONS "-fno-math-errno;-mavx512f;-mavx512dq;-mprefer-vector-width=512")
endif()
