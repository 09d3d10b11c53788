# Asio and Beast compiled once, not in every file that includes them.
target_compile_definitions(nustream_service PUBLIC BOOST_ASIO_SEPARATE_COMPILATION BOOST_BEAST_SEPARATE_COMPILATION)
target_sources(nustream_service PRIVATE
  serve/asio.cpp serve/bearer_token.cpp serve/committed.cpp serve/connection.cpp serve/event_text.cpp serve/eviction.cpp
  serve/exchange.cpp serve/follow.cpp serve/history.cpp serve/page_coefficients.cpp serve/page_lanes.cpp serve/page_privacy.cpp
  serve/public_past.cpp serve/shown_lane.cpp serve/status_page.cpp
  serve/exposition.cpp serve/listener.cpp serve/operator_metrics.cpp serve/operator_page.cpp serve/operator_surface.cpp
  serve/public_metrics.cpp serve/public_surface.cpp serve/routes.cpp serve/servers.cpp
  serve/settings.cpp)
# The status page's style and script, built in.
foreach(asset IN ITEMS page.css page.js)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/serve/assets/${asset})
endforeach()
file(READ ${CMAKE_CURRENT_SOURCE_DIR}/serve/assets/page.css page_style)
file(READ ${CMAKE_CURRENT_SOURCE_DIR}/serve/assets/page.js page_script)
configure_file(serve/assets.h.in ${CMAKE_CURRENT_BINARY_DIR}/serve/assets.h @ONLY)
