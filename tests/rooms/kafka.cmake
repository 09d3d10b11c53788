# Tests of the kafka room, and the support of all tests on a real broker.
find_package(PkgConfig REQUIRED)
pkg_check_modules(RDKAFKA REQUIRED IMPORTED_TARGET rdkafka)
add_library(nustream_kafka_support STATIC support/broker_network.cpp support/kafka_broker.cpp support/kafka_rights.cpp support/kafka_records.cpp
            support/kafka_topics.cpp)
target_include_directories(nustream_kafka_support PUBLIC support)
target_link_libraries(nustream_kafka_support PUBLIC PkgConfig::RDKAFKA PRIVATE nustream_compile)

# The thread sanitizer does not follow C11's threads, which librdkafka uses. Under this sanitizer every program gets C11
# threads that are made of POSIX threads.
if(NUSTREAM_SANITIZE STREQUAL "thread")
  target_sources(nustream_service INTERFACE
    $<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>:${CMAKE_CURRENT_SOURCE_DIR}/support/c11_threads.cpp>)
endif()

# nustream_broker_test(NAME LABEL SOURCES… [LINK libraries…]): as nustream_test, but ctest has one entry for the whole
# binary, since its tests share a broker that is started once. Such tests mostly wait, on average for three quarters of
# their time. So ./test runs four of them at a time (tests/support/brokers.json) beside two that compute. COST makes ctest
# begin with them, and with the longest ones first.
set(nustream_long_broker_tests attach_users_kill_test attach_kill_test attach_disturbance_test attach_outage_test
                               kafka_security_test attach_start_test attach_contradiction_test attach_users_test)
function(nustream_broker_test name label)
  cmake_parse_arguments(arg "" "" "LINK" ${ARGN})
  add_executable(${name} ${arg_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PRIVATE nustream_service nustream_compile nustream_kafka_support
                        GTest::gtest GTest::gtest_main ${arg_LINK})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests/support)
  target_compile_definitions(${name} PRIVATE NUSTREAM_TESTS_DIR="${CMAKE_CURRENT_SOURCE_DIR}"
                                             NUSTREAM_ROOT_DIR="${PROJECT_SOURCE_DIR}")
  nustream_test_options(${name})
  add_test(NAME ${name} COMMAND ${name})
  set(cost 100)
  if(name IN_LIST nustream_long_broker_tests)
    set(cost 200)
  endif()
  set_tests_properties(${name} PROPERTIES LABELS ${label} TIMEOUT ${test_timeout} COST ${cost}
                                          RESOURCE_GROUPS brokers:1)
endfunction()

nustream_test(kafka_unit_test quick unit/free_port_test.cpp unit/kafka_background_call_test.cpp
              unit/kafka_client_error_test.cpp unit/kafka_client_settings_test.cpp
              unit/kafka_dead_letter_size_test.cpp
              unit/kafka_log_lines_test.cpp unit/kafka_oauth_token_test.cpp unit/kafka_secret_properties_test.cpp
              unit/kafka_other_offset_test.cpp unit/kafka_seen_records_test.cpp
              unit/attach_broker_watch_test.cpp unit/attach_start_up_test.cpp
              LINK nustream_service PkgConfig::RDKAFKA GTest::gmock)
nustream_broker_test(kafka_broker_test quick fault/kafka_transaction_test.cpp fault/kafka_reader_test.cpp
                     fault/kafka_topic_test.cpp)
nustream_broker_test(kafka_group_test full fault/kafka_group_test.cpp)
nustream_broker_test(kafka_refusal_test full fault/kafka_refusal_test.cpp)
