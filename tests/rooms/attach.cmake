# The attached service on a real broker, as a child process.
find_package(fmt REQUIRED)
function(nustream_attach_test name label)
  nustream_broker_test(${name} ${label} ${ARGN} LINK GTest::gmock simdjson::simdjson fmt::fmt)
  target_compile_definitions(${name} PRIVATE NUSTREAM_COMMAND="$<TARGET_FILE:nustream>")
  add_dependencies(${name} nustream)
endfunction()
nustream_test(attach_lane_test quick SEPARATE unit/attach_lane_machine_test.cpp unit/attach_open_batch_test.cpp
              unit/attach_lane_tally_test.cpp
              LINK nustream_service GTest::gmock)
nustream_attach_test(attach_test full fault/attach_test.cpp)
nustream_attach_test(golden_topics_test full fault/golden_topics_test.cpp)
nustream_attach_test(attach_quick_test quick fault/attach_quick_test.cpp)
nustream_attach_test(attach_batches_test full fault/attach_batches_test.cpp)
nustream_attach_test(attach_epochs_test full fault/attach_epochs_test.cpp)
target_compile_definitions(attach_epochs_test PRIVATE NUSTREAM_KEY_SOURCE="$<TARGET_FILE:key_source>")
add_dependencies(attach_epochs_test key_source)
nustream_attach_test(attach_dead_letter_test full fault/attach_dead_letter_test.cpp)
nustream_attach_test(attach_contradiction_test full fault/attach_contradiction_test.cpp
                     fault/attach_rolled_back_test.cpp fault/attach_settings_test.cpp
                     fault/attach_offset_reset_test.cpp)
nustream_attach_test(attach_users_test full fault/attach_users_test.cpp fault/attach_users_windows_test.cpp
                     fault/attach_max_lanes_test.cpp fault/attach_users_disk_test.cpp)
nustream_attach_test(attach_history_test full fault/attach_history_test.cpp)
nustream_attach_test(attach_moments_test full fault/attach_moments_test.cpp)
nustream_attach_test(attach_model_test full fault/attach_model_test.cpp)
nustream_attach_test(attach_budget_test full fault/attach_budget_test.cpp)
nustream_attach_test(attach_partitions_test full fault/attach_partitions_test.cpp)
nustream_attach_test(attach_refusal_test full fault/attach_refusal_test.cpp)
nustream_attach_test(attach_recovery_test full fault/attach_recovery_test.cpp)
nustream_attach_test(attach_outage_test full fault/attach_outage_test.cpp)
nustream_attach_test(kafka_security_test full fault/kafka_security_test.cpp)
nustream_attach_test(attach_log_test full fault/attach_log_test.cpp)
nustream_attach_test(attach_crowd_test full fault/attach_crowd_test.cpp)
nustream_attach_test(check_topic_test full fault/check_topic_test.cpp)
nustream_attach_test(attach_prometheus_test full fault/attach_prometheus_test.cpp)

# The service with kill points in its transactions.
set(topics_sources ${PROJECT_SOURCE_DIR}/streaming/kafka/transaction.cpp
                   ${PROJECT_SOURCE_DIR}/streaming/kafka/kafka_journal.cpp)
add_library(nustream_topics_faulty STATIC ${topics_sources})
nustream_replaced(nustream_service faulty ${topics_sources})
target_compile_definitions(nustream_topics_faulty PRIVATE NUSTREAM_FAILPOINTS)
target_link_libraries(nustream_topics_faulty PRIVATE nustream_service)
add_executable(nustream_attach_faulty ${PROJECT_SOURCE_DIR}/streaming/cli/main.cpp)
target_link_libraries(nustream_attach_faulty
  PRIVATE $<LINK_LIBRARY:WHOLE_ARCHIVE,nustream_journal_faulty> $<LINK_LIBRARY:WHOLE_ARCHIVE,nustream_topics_faulty>
          nustream_service)
foreach(test kill abort start disturbance chaos users_kill users_edits lane_change lost_users measured)
  nustream_attach_test(attach_${test}_test full fault/attach_${test}_test.cpp)
  target_compile_definitions(attach_${test}_test PRIVATE NUSTREAM_FAILPOINTS
                                                         NUSTREAM_FAULTY="$<TARGET_FILE:nustream_attach_faulty>")
  add_dependencies(attach_${test}_test nustream_attach_faulty)
endforeach()
target_sources(attach_users_kill_test PRIVATE fault/attach_users_moments_test.cpp)

# The status page of the real service, in a real browser. Skipped where there is no browser.
add_executable(attached_world browser/attached_world.cpp)
target_link_libraries(attached_world PRIVATE nustream_service nustream_compile nustream_kafka_support GTest::gtest)
target_include_directories(attached_world PRIVATE ${PROJECT_SOURCE_DIR}/tests/support)
target_compile_definitions(attached_world PRIVATE NUSTREAM_COMMAND="$<TARGET_FILE:nustream>"
                                                  NUSTREAM_TESTS_DIR="${CMAKE_CURRENT_SOURCE_DIR}"
                                                  NUSTREAM_ROOT_DIR="${PROJECT_SOURCE_DIR}")
add_dependencies(attached_world nustream)
add_test(NAME attached_page_browser COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/browser/run $<TARGET_FILE:attached_world>
                                            ${PROJECT_BINARY_DIR}/browser
                                            ${CMAKE_CURRENT_SOURCE_DIR}/browser/attached_page.mjs)
set_tests_properties(attached_page_browser PROPERTIES LABELS full TIMEOUT ${test_timeout} SKIP_RETURN_CODE 77
                                                      RESOURCE_LOCK browser_packages RESOURCE_GROUPS brokers:1)

# Two neighbouring topics under coupled noise.
add_executable(neighbour_service fault/neighbour_service.cpp)
target_link_libraries(neighbour_service PRIVATE nustream_service)
nustream_attach_test(attach_neighbours_test full fault/attach_neighbours_test.cpp)
target_compile_definitions(attach_neighbours_test PRIVATE NUSTREAM_NEIGHBOUR="$<TARGET_FILE:neighbour_service>")
add_dependencies(attach_neighbours_test neighbour_service)
target_include_directories(attach_neighbours_test PRIVATE ${PROJECT_SOURCE_DIR}/src)

if(NOT NUSTREAM_FAILPOINTS)
  nustream_test(attach_release_build_test quick fault/attach_release_build_test.cpp)
  target_include_directories(attach_release_build_test PRIVATE ${PROJECT_SOURCE_DIR}/streaming)
  target_compile_definitions(attach_release_build_test PRIVATE
    NUSTREAM_FAILPOINTS NUSTREAM_COMMAND="$<TARGET_FILE:nustream>"
    NUSTREAM_SERVICE_ARCHIVE="$<TARGET_FILE:nustream_service>"
    NUSTREAM_NEIGHBOUR="$<TARGET_FILE:neighbour_service>" NUSTREAM_FAULTY="$<TARGET_FILE:nustream_attach_faulty>")
  add_dependencies(attach_release_build_test nustream neighbour_service nustream_attach_faulty)
endif()
