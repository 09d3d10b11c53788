# Tests of local privacy: the core's files in inference/, and streaming/local.
find_package(Eigen3 REQUIRED)
find_package(fmt REQUIRED)
nustream_test(local_inference_test quick unit/local_bounds_test.cpp unit/local_mechanism_test.cpp
              unit/local_collector_test.cpp unit/local_glm_scale_test.cpp unit/local_solver_test.cpp
              statistical/local_mechanism_test.cpp
              LINK Eigen3::Eigen)
if(NOT TARGET nustream_service)
  return()
endif()

nustream_test(local_test quick unit/local_settings_test.cpp unit/local_report_test.cpp property/local_crash_test.cpp
              support/simulated_disk.cpp LINK nustream_service GTest::gmock fmt::fmt)

# The real commands, as child processes.
function(nustream_local_test name label)
  nustream_test(${name} ${label} ${ARGN} LINK nustream_service GTest::gmock simdjson::simdjson fmt::fmt)
  target_compile_definitions(${name} PRIVATE NUSTREAM_COMMAND="$<TARGET_FILE:nustream>")
  add_dependencies(${name} nustream)
endfunction()
nustream_local_test(local_command_test quick fault/local_command_test.cpp fault/local_collect_test.cpp)

# The commands with kill points: their own objects and the journal's come from faulty libraries, and everything else is as
# shipped.
if(TARGET nustream_journal_faulty)
  set(local_sources ${PROJECT_SOURCE_DIR}/streaming/local/collector_folder.cpp
                    ${PROJECT_SOURCE_DIR}/streaming/local/randomize.cpp
                    ${PROJECT_SOURCE_DIR}/streaming/local/report_store.cpp)
  add_library(nustream_local_objects_faulty STATIC ${local_sources})
  nustream_replaced(nustream_service local_faulty ${local_sources})
  target_compile_definitions(nustream_local_objects_faulty PRIVATE NUSTREAM_FAILPOINTS)
  target_link_libraries(nustream_local_objects_faulty PRIVATE nustream_service PkgConfig::SODIUM)
  add_executable(nustream_local_faulty ${PROJECT_SOURCE_DIR}/streaming/cli/main.cpp)
  target_link_libraries(nustream_local_faulty
    PRIVATE $<LINK_LIBRARY:WHOLE_ARCHIVE,nustream_journal_faulty>
            $<LINK_LIBRARY:WHOLE_ARCHIVE,nustream_local_objects_faulty> nustream_service)
  nustream_local_test(local_kill_test full fault/local_kill_test.cpp)
  target_compile_definitions(local_kill_test PRIVATE NUSTREAM_FAILPOINTS
                                                     NUSTREAM_FAULTY="$<TARGET_FILE:nustream_local_faulty>")
  add_dependencies(local_kill_test nustream_local_faulty)
endif()
if(TARGET nustream_local_faulty AND TARGET nustream_kafka_support)
  nustream_broker_test(local_topic_test full fault/local_topic_test.cpp
                       LINK GTest::gmock simdjson::simdjson fmt::fmt PkgConfig::RDKAFKA)
  target_compile_definitions(local_topic_test PRIVATE NUSTREAM_FAILPOINTS
    NUSTREAM_COMMAND="$<TARGET_FILE:nustream>" NUSTREAM_FAULTY="$<TARGET_FILE:nustream_local_faulty>")
  add_dependencies(local_topic_test nustream nustream_local_faulty)
endif()
