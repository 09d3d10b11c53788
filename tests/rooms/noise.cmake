# Tests of the noise room, one line a binary.

# Correlations and generators.
find_package(Eigen3 REQUIRED)
nustream_test(noise_correlation_test quick unit/noise_correlation_test.cpp)
nustream_test(noise_rational_test quick unit/noise_rational_test.cpp)
nustream_test(noise_reference_test quick golden/noise_reference_test.cpp)
nustream_test(noise_dense_test quick unit/noise_dense_test.cpp LINK Eigen3::Eigen)
nustream_test(noise_tree_test quick unit/noise_tree_test.cpp LINK Eigen3::Eigen)
nustream_test(noise_fft_test quick unit/noise_fft_test.cpp)
nustream_test(noise_generators_test quick unit/noise_generators_test.cpp)
if(NUSTREAM_ONLY_CORE_ROOMS STREQUAL "all" OR "privacy" IN_LIST NUSTREAM_ONLY_CORE_ROOMS)
  nustream_test(noise_optimised_test quick property/noise_optimised_test.cpp)
  target_include_directories(noise_optimised_test PRIVATE ${PROJECT_SOURCE_DIR}/src ${CMAKE_CURRENT_SOURCE_DIR})
endif()
nustream_test(noise_generators_property_test quick property/noise_generators_test.cpp
              property/noise_generators_restart_test.cpp)
foreach(test noise_reference_test noise_tree_test noise_fft_test noise_generators_test noise_generators_property_test)
  # The private interface of generators, and shared test support.
  target_include_directories(${test} PRIVATE ${PROJECT_SOURCE_DIR}/src ${CMAKE_CURRENT_SOURCE_DIR})
endforeach()

# Keys, Gaussian, recurrent filter, grid and source.
nustream_test(noise_key_test quick unit/noise_key_test.cpp LINK OpenSSL::Crypto)
nustream_test(noise_gaussian_test quick unit/noise_gaussian_test.cpp LINK OpenSSL::Crypto)
nustream_test(noise_gaussian_property_test quick property/noise_gaussian_test.cpp LINK OpenSSL::Crypto)
nustream_test(noise_grid_test quick unit/noise_grid_test.cpp)
nustream_test(noise_recurrent_test quick unit/noise_recurrent_test.cpp)
nustream_test(noise_source_test quick unit/noise_source_test.cpp LINK OpenSSL::Crypto)
nustream_test(noise_source_property_test quick property/noise_source_test.cpp LINK OpenSSL::Crypto)
nustream_test(noise_healing_test quick property/noise_healing_test.cpp property/noise_segments_test.cpp LINK OpenSSL::Crypto)
nustream_test(noise_gaussian_golden_test quick golden/noise_gaussian_test.cpp LINK OpenSSL::Crypto)
nustream_test(noise_gaussian_statistics_test full statistical/noise_gaussian_test.cpp LINK OpenSSL::Crypto)
foreach(test noise_key_test noise_gaussian_test noise_gaussian_property_test noise_gaussian_golden_test
        noise_gaussian_statistics_test noise_grid_test noise_recurrent_test noise_source_test
        noise_source_property_test noise_healing_test)
  target_include_directories(${test} PRIVATE ${PROJECT_SOURCE_DIR}/src ${CMAKE_CURRENT_SOURCE_DIR})
endforeach()

# The campaign runs the same statistics over 2e8 samples.
add_test(NAME noise_gaussian_statistics_campaign COMMAND noise_gaussian_statistics_test)
set_tests_properties(noise_gaussian_statistics_campaign PROPERTIES LABELS campaign TIMEOUT 3600
                     ENVIRONMENT NUSTREAM_CAMPAIGN=1)

# A program that shares no code with the library computes the golden hashes too.
find_package(Python3 COMPONENTS Interpreter QUIET)
if(Python3_FOUND)
  add_test(NAME noise_gaussian_twin COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/golden/noise_gaussian_twin.py
           ${PROJECT_SOURCE_DIR}/docs/formats/noise.md)
  set_tests_properties(noise_gaussian_twin PROPERTIES LABELS full TIMEOUT 600)
endif()

# No code for a newer processor reaches an older one.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  add_test(NAME noise_kernel_symbols COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/unit/noise_kernel_symbols.sh
           $<TARGET_FILE:nustream_core> ${CMAKE_NM})
  set_tests_properties(noise_kernel_symbols PROPERTIES LABELS quick)
endif()

# The same bits on another architecture.
add_executable(noise_kernels campaign/noise_kernels.cpp)
target_link_libraries(noise_kernels PRIVATE nustream_core nustream_compile)
target_include_directories(noise_kernels PRIVATE ${PROJECT_SOURCE_DIR}/src)
add_test(NAME noise_aarch64 COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/campaign/noise_aarch64.sh ${PROJECT_SOURCE_DIR}
         ${CMAKE_CURRENT_BINARY_DIR}/aarch64 $<TARGET_FILE:noise_kernels>)
set_tests_properties(noise_aarch64 PROPERTIES LABELS campaign SKIP_RETURN_CODE 77 TIMEOUT 600)
