# The attached service on a real broker, as a child process.
find_package(fmt REQUIRED)
function(nustream_attach_test name label)
  nustream_broker_test(${name} ${label} ${ARGN} LINK GTest::gmock simdjson::simdjson fmt::fmt)
  target_compile_definitions(${name} PRIVATE NUSTREAM_COMMAND="$<TARGET_FILE:nustream>")
  add_dependencies(${name} nustream)
endfunction()
nustream_attach_test(attach_test full fault/attach_test.cpp)
