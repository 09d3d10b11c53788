# Bugs that are planted on purpose (tests/planted/*.patch), and what catches each of them: docs/planted-bugs.md.
find_package(PkgConfig REQUIRED)
pkg_check_modules(SODIUM REQUIRED IMPORTED_TARGET libsodium)
pkg_check_modules(TOML REQUIRED IMPORTED_TARGET tomlplusplus)
pkg_check_modules(RDKAFKA REQUIRED IMPORTED_TARGET rdkafka)
find_package(simdjson REQUIRED)

# The names of the patches, and the sources that they change. All patches are applied to one copy of those sources.
set(planted_folder ${PROJECT_BINARY_DIR}/planted)
file(GLOB planted_patches CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/planted/*.patch)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${planted_patches})
foreach(patch IN LISTS planted_patches)
  get_filename_component(name ${patch} NAME_WE)
  string(APPEND planted_names "    std::string_view(\"${name}\"),\n")
  file(STRINGS ${patch} changed REGEX "^\\+\\+\\+ b/")
  list(TRANSFORM changed REPLACE "^\\+\\+\\+ b/" "")
  list(APPEND planted_sources ${changed})
endforeach()
list(REMOVE_DUPLICATES planted_sources)
file(CONFIGURE OUTPUT ${planted_folder}/planted_names.h CONTENT [[
#pragma once

#include <array>
#include <string_view>

namespace nustream::planted {

inline constexpr std::array names{
@planted_names@};

}  // namespace nustream::planted
]] @ONLY)
list(TRANSFORM planted_sources PREPEND ${planted_folder}/ OUTPUT_VARIABLE planted_copies)
list(TRANSFORM planted_sources PREPEND ${PROJECT_SOURCE_DIR}/ OUTPUT_VARIABLE planted_originals)
add_custom_command(
  OUTPUT ${planted_folder}/applied BYPRODUCTS ${planted_copies}
  COMMAND python3 ${PROJECT_SOURCE_DIR}/tests/planted/apply.py ${PROJECT_SOURCE_DIR} ${planted_folder}
  COMMAND ${CMAKE_COMMAND} -E touch ${planted_folder}/applied
  DEPENDS ${planted_patches} ${planted_originals} ${PROJECT_SOURCE_DIR}/tests/planted/apply.py
  COMMENT "Planting bugs in a copy of the sources" VERBATIM)
add_custom_target(planted_copy DEPENDS ${planted_folder}/applied)

# These files are compiled once more beside the changed ones: they include a header that a patch changes, or hold kill
# points.
set(beside_core descent/clip.cpp descent/gradient_sum.cpp descent/kernel_baseline.cpp descent/second_moments.cpp
                moments/sum_kernel_baseline.cpp)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  list(APPEND beside_core descent/kernel_avx2.cpp descent/kernel_avx512.cpp
                          moments/sum_kernel_avx2.cpp moments/sum_kernel_avx512.cpp)
endif()
set(beside_service journal/failpoint.cpp kafka/transaction.cpp)

# What every file of a planted library is compiled with.
function(nustream_planted_options name of)
  add_dependencies(${name} planted_copy)
  target_compile_definitions(${name} PRIVATE NUSTREAM_FAILPOINTS)
  target_compile_options(${name} PRIVATE $<$<CONFIG:Release>:-O1>  # tests ask what these sources do, not how fast
                                         ${nustream_precompiled_flags})
  target_include_directories(${name} BEFORE PRIVATE
    ${planted_folder} ${planted_folder}/src ${planted_folder}/streaming
    ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/streaming)
  target_link_libraries(${name} PRIVATE ${of} nustream_compile OpenSSL::Crypto ${ARGN})
endfunction()

# nustream_planted_library(NAME OF FOLDER BESIDE SOURCES… LINK LIBRARIES… HEADERS HEADERS…): makes a library of those
# sources of the library OF that are in FOLDER and that patches change, and of SOURCES beside them. It has the bugs and kill
# points; nothing that is shipped links it. The sources of a room are one object library, in the batches of OF, since they
# include headers of their room without its name.
function(nustream_planted_library name of folder)
  cmake_parse_arguments(arg "" "" "BESIDE;LINK;HEADERS" ${ARGN})
  add_library(${name}_headers OBJECT support/precompiled.cpp)
  nustream_planted_options(${name}_headers ${of} ${arg_LINK})
  target_precompile_headers(${name}_headers PRIVATE ${PROJECT_SOURCE_DIR}/tests/planted/planted.h ${arg_HEADERS})
  add_library(${name} STATIC)
  set(sources ${planted_sources})
  list(FILTER sources INCLUDE REGEX "^${folder}/.*[.]cpp$")
  list(TRANSFORM arg_BESIDE PREPEND ${folder}/ OUTPUT_VARIABLE beside)
  foreach(source IN LISTS sources beside)
    set(original ${PROJECT_SOURCE_DIR}/${source})
    set(compiled ${original})
    if(source IN_LIST sources)
      set(compiled ${planted_folder}/${source})
    endif()
    cmake_path(GET source PARENT_PATH room_path)
    cmake_path(GET room_path FILENAME room)
    set(objects ${name}_${room})
    if(NOT TARGET ${objects})
      add_library(${objects} OBJECT)
      nustream_planted_options(${objects} ${of} ${arg_LINK})
      # Not -I, by which <sodium.h> would be a header of the project's.
      target_compile_options(${objects} PRIVATE "SHELL:-iquote ${PROJECT_SOURCE_DIR}/${room_path}")
      target_precompile_headers(${objects} REUSE_FROM ${name}_headers)
      set_target_properties(${objects} PROPERTIES UNITY_BUILD_MODE GROUP)
      target_sources(${name} PRIVATE $<TARGET_OBJECTS:${objects}>)
    endif()
    target_sources(${objects} PRIVATE ${compiled})
    get_source_file_property(options ${original} TARGET_DIRECTORY ${of} COMPILE_OPTIONS)
    get_source_file_property(batch ${original} TARGET_DIRECTORY ${of} UNITY_GROUP)
    set_source_files_properties(${compiled} PROPERTIES UNITY_GROUP ${batch})
    if(options)  # a file for another processor, which no precompiled header fits
      list(APPEND options -include ${PROJECT_SOURCE_DIR}/tests/planted/planted.h)
      set_source_files_properties(${compiled} PROPERTIES COMPILE_OPTIONS "${options}" SKIP_PRECOMPILE_HEADERS ON)
    endif()
    nustream_replaced(${of} planted ${original})
  endforeach()
endfunction()
find_package(Eigen3 REQUIRED NO_MODULE)
nustream_planted_library(nustream_planted_core nustream_core src BESIDE ${beside_core} LINK Eigen3::Eigen
                         HEADERS <algorithm> <array> <cmath> <cstdint> <functional> <memory> <optional> <span> <string>
                                 <vector>)
target_sources(nustream_planted_core PRIVATE ${PROJECT_SOURCE_DIR}/tests/planted/planted.cpp)
nustream_planted_options(nustream_planted_core nustream_core)
nustream_planted_library(nustream_planted_service nustream_service streaming BESIDE ${beside_service}
                         LINK PkgConfig::SODIUM PkgConfig::TOML PkgConfig::RDKAFKA simdjson::simdjson
                         HEADERS <fmt/format.h> <algorithm> <array> <chrono> <cmath> <cstdint> <filesystem> <functional>
                                 <map> <memory> <optional> <span> <string> <variant> <vector>)
set_target_properties(nustream_planted_service PROPERTIES LINKER_LANGUAGE CXX)
target_link_libraries(nustream_planted_service PRIVATE nustream_service)

set(planted_core $<LINK_LIBRARY:WHOLE_ARCHIVE,nustream_planted_core>)
set(planted_service ${planted_core} $<LINK_LIBRARY:WHOLE_ARCHIVE,nustream_planted_service>)

# The command with the bugs stands beside the command as it is.
add_executable(nustream_planted ${PROJECT_SOURCE_DIR}/streaming/cli/main.cpp)
target_link_libraries(nustream_planted PRIVATE ${planted_service} nustream_service)
set_target_properties(nustream_planted PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})

# nustream_planted_twins(NAME…): makes of each program NAME a program NAME_planted, of the same objects and code with the
# bugs.
function(nustream_planted_twins)
  foreach(name IN LISTS ARGN)
    get_target_property(libraries ${name} LINK_LIBRARIES)
    set(planted ${planted_core})
    if("nustream_service" IN_LIST libraries OR "nustream_simulation" IN_LIST libraries)
      set(planted ${planted_service})
    endif()
    add_executable(${name}_planted $<TARGET_OBJECTS:${name}>)
    set_target_properties(${name}_planted PROPERTIES LINKER_LANGUAGE CXX)
    target_link_libraries(${name}_planted PRIVATE ${planted} ${libraries})
  endforeach()
endfunction()
set(planted_twins
  noise_healing_test noise_key_test noise_gaussian_test noise_generators_property_test noise_source_test
  noise_source_property_test privacy_unit_test privacy_restarted_test privacy_golden_test descent_test lane_test lane_stages_test
  local_inference_test decode_test config_test publish_test secrets_unit_test journal_unit_test journal_crash_test
  ranges_test serve_listener_test residual_test lane_stages_twin_test record_test replay_input_test
  engine_key_memory_test attach_key_memory_test engine_reservation_test verify_test
  simulation_test coupling_test lane_transactions_test moments_test moments_property_test engine_moments_coupling_test
  users_property_test users_lane_test users_store_test users_disk_table_test)
nustream_planted_twins(${planted_twins})

# These tests run commands: of the command they get the twin with the bugs.
set(planted_commands
  replay_resume_test estimate_test fit_test measured_test instruments_test local_command_test key_source_test
  replay_healing_test replay_batches_test users_command_test account_test witness_test)

nustream_test(planted_bugs_test full planted/planted_bugs_test.cpp planted/bugs.cpp LINK GTest::gmock)
target_include_directories(planted_bugs_test PRIVATE ${planted_folder})
target_compile_definitions(planted_bugs_test PRIVATE
  NUSTREAM_PROGRAMS="$<TARGET_FILE_DIR:planted_bugs_test>"
  NUSTREAM_PLANTED_COMMAND="$<TARGET_FILE:nustream_planted>")
list(TRANSFORM planted_twins APPEND _planted OUTPUT_VARIABLE planted_twin_targets)
add_dependencies(planted_bugs_test nustream_planted ${planted_commands} ${planted_twin_targets})

nustream_test(table_of_bugs_test quick planted/table_of_bugs_test.cpp planted/bugs.cpp LINK GTest::gmock)
target_include_directories(table_of_bugs_test PRIVATE ${planted_folder})
target_compile_definitions(table_of_bugs_test PRIVATE NUSTREAM_PLANTED_COMMAND="$<TARGET_FILE:nustream_planted>")
add_dependencies(table_of_bugs_test nustream_planted)

if(NOT NUSTREAM_FAILPOINTS)
  nustream_test(planted_release_build_test quick fault/planted_release_build_test.cpp)
  target_include_directories(planted_release_build_test PRIVATE ${planted_folder})
  target_compile_definitions(planted_release_build_test PRIVATE
    NUSTREAM_PLANTED_COMMAND="$<TARGET_FILE:nustream_planted>"
    NUSTREAM_COMMAND="$<TARGET_FILE:nustream>" NUSTREAM_SERVICE_ARCHIVE="$<TARGET_FILE:nustream_service>"
    NUSTREAM_CORE_ARCHIVE="$<TARGET_FILE:nustream_core>")
  add_dependencies(planted_release_build_test nustream nustream_planted)
endif()

add_test(NAME planted_patches COMMAND python3 planted/apply.py ${PROJECT_SOURCE_DIR} WORKING_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR})
set_tests_properties(planted_patches PROPERTIES LABELS quick)

# These tests run on a broker.
nustream_attach_test(attach_planted_test full fault/attach_planted_test.cpp)
target_compile_definitions(attach_planted_test PRIVATE NUSTREAM_PLANTED_COMMAND="$<TARGET_FILE:nustream_planted>")
add_dependencies(attach_planted_test nustream_planted)
nustream_planted_twins(neighbour_service)
add_dependencies(planted_bugs_test attach_planted_test attach_contradiction_test attach_epochs_test
                 attach_batches_test attach_neighbours_test attach_users_test attach_lane_change_test
                 neighbour_service_planted)
