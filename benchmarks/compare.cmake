# The program that benchmarks/compare runs besides nustream, noise and descent; and its smoke test, which needs no network.
add_executable(make_segment make_segment.cpp)
target_link_libraries(make_segment PRIVATE nustream_service nustream_compile fmt::fmt)
if(NUSTREAM_TESTS)
  add_test(NAME compare COMMAND ${PROJECT_SOURCE_DIR}/tests/docs/compare_quick.py ${PROJECT_SOURCE_DIR}
                                ${PROJECT_BINARY_DIR})
  set_tests_properties(compare PROPERTIES LABELS full TIMEOUT 600)
endif()
