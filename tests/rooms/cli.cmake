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
