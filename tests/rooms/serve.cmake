# Tests of the serve room: metrics, surfaces, listeners.
find_package(simdjson REQUIRED)
nustream_test(serve_surface_test quick unit/serve_public_surface_test.cpp unit/serve_operator_surface_test.cpp
              unit/serve_docs_test.cpp property/serve_public_surface_test.cpp
              LINK nustream_service GTest::gmock simdjson::simdjson)
nustream_test(serve_listener_test quick unit/serve_listener_test.cpp unit/serve_listener_limits_test.cpp
              unit/serve_listener_end_test.cpp unit/serve_access_test.cpp unit/serve_routes_test.cpp
              unit/serve_operator_token_test.cpp unit/serve_eviction_test.cpp
              LINK nustream_service GTest::gmock)
nustream_test(serve_tools_test quick fault/serve_tools_test.cpp LINK nustream_service GTest::gmock)
