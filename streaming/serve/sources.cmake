# Asio and Beast compiled once, not in every file that includes them.
target_compile_definitions(nustream_service PUBLIC BOOST_ASIO_SEPARATE_COMPILATION BOOST_BEAST_SEPARATE_COMPILATION)
target_sources(nustream_service PRIVATE
  serve/address.cpp serve/asio.cpp serve/bearer_token.cpp serve/committed.cpp serve/connection.cpp serve/eviction.cpp serve/exchange.cpp
  serve/exposition.cpp serve/listener.cpp serve/operator_metrics.cpp serve/operator_surface.cpp serve/operator_token.cpp
  serve/process_metrics.cpp serve/public_metrics.cpp serve/public_surface.cpp serve/routes.cpp serve/servers.cpp
  serve/settings.cpp)
