# Tests of the serve room: metrics, surfaces, listeners.
find_package(simdjson REQUIRED)
nustream_test(serve_surface_test quick unit/serve_public_surface_test.cpp unit/serve_operator_surface_test.cpp
              unit/serve_docs_test.cpp unit/serve_history_test.cpp unit/serve_status_page_test.cpp property/serve_public_surface_test.cpp
              LINK nustream_service GTest::gmock simdjson::simdjson)
nustream_test(serve_listener_test quick unit/serve_listener_test.cpp unit/serve_listener_limits_test.cpp
              unit/serve_listener_end_test.cpp unit/serve_access_test.cpp unit/serve_routes_test.cpp
              unit/serve_operator_token_test.cpp unit/serve_eviction_test.cpp unit/serve_events_test.cpp
              LINK nustream_service GTest::gmock)
nustream_test(chart_test quick unit/chart_test.cpp LINK nustream_service GTest::gmock)
nustream_test(serve_tools_test quick fault/serve_tools_test.cpp LINK nustream_service GTest::gmock)

# The status page in a real browser, over a server with made-up lanes. Skipped where there is no browser.
add_executable(page_server browser/page_server.cpp)
target_include_directories(page_server PRIVATE support)
target_link_libraries(page_server PRIVATE nustream_service nustream_compile)
add_test(NAME status_page_browser COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/browser/run $<TARGET_FILE:page_server>
                                          ${PROJECT_BINARY_DIR}/browser)
set_tests_properties(status_page_browser PROPERTIES LABELS full TIMEOUT ${test_timeout} SKIP_RETURN_CODE 77
                                                    RESOURCE_LOCK browser_packages)
