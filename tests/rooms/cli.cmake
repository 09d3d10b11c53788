# Tests of the command's rooms: config, publish, replay, cli.
nustream_test(config_test quick unit/config_test.cpp LINK nustream_service GTest::gmock)
nustream_test(publish_test quick unit/publish_test.cpp LINK nustream_service GTest::gmock)

# The real command, as a child process.
find_package(fmt REQUIRED)
function(nustream_command_test name label)
  nustream_test(${name} ${label} ${ARGN} LINK nustream_service GTest::gmock simdjson::simdjson fmt::fmt)
  target_compile_definitions(${name} PRIVATE NUSTREAM_COMMAND="$<TARGET_FILE:nustream>")
  add_dependencies(${name} nustream)
endfunction()
nustream_command_test(replay_bad_input_test quick fault/replay_bad_input_test.cpp)
nustream_command_test(replay_resume_test quick fault/replay_resume_test.cpp)

# The command with kill points: the journal's and secrets' objects from the faulty library, everything else as shipped.
add_executable(nustream_faulty ${PROJECT_SOURCE_DIR}/streaming/cli/main.cpp)
target_link_libraries(nustream_faulty PRIVATE $<LINK_LIBRARY:WHOLE_ARCHIVE,nustream_journal_faulty> nustream_service)
nustream_test(replay_kill_test full fault/replay_kill_test.cpp
              LINK nustream_journal_faulty GTest::gmock simdjson::simdjson fmt::fmt)
target_compile_definitions(replay_kill_test PRIVATE NUSTREAM_COMMAND="$<TARGET_FILE:nustream>"
                                                    NUSTREAM_FAULTY="$<TARGET_FILE:nustream_faulty>")
add_dependencies(replay_kill_test nustream nustream_faulty)
find_package(ZLIB REQUIRED)
nustream_command_test(estimate_test quick fault/estimate_test.cpp)
target_link_libraries(estimate_test PRIVATE ZLIB::ZLIB)
set(NUSTREAM_TABLES_DIR "${PROJECT_SOURCE_DIR}/../shared/data"
    CACHE PATH "Folder of the tables that tests may read and the project may not ship")
nustream_command_test(instruments_test quick fault/instruments_test.cpp)
target_compile_definitions(instruments_test PRIVATE NUSTREAM_TABLES_DIR="${NUSTREAM_TABLES_DIR}")
