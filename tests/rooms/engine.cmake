# Tests of the engine room: what replay and attach share.
nustream_test(engine_noise_ahead_test quick property/engine_noise_ahead_test.cpp LINK nustream_service)
nustream_test(engine_clipped_share_test quick statistical/clipped_share_test.cpp LINK nustream_service)
nustream_test(engine_going_on_test quick unit/engine_going_on_test.cpp LINK nustream_service)
nustream_test(engine_reservation_test quick unit/engine_reservation_test.cpp LINK nustream_service)
nustream_test(engine_epoch_decision_test quick unit/engine_epoch_decision_test.cpp unit/engine_epoch_rules_test.cpp LINK nustream_service)
# This test looks for keys through all memory of its process. It is a program of its own, so that nothing else ran before,
# and is not built with sanitizers, which keep copies of what they watch.
if(NOT NUSTREAM_SANITIZE)
  find_package(fmt REQUIRED)
  nustream_test(engine_key_memory_test quick property/engine_key_memory_test.cpp LINK nustream_service fmt::fmt)
  target_include_directories(engine_key_memory_test PRIVATE ${PROJECT_SOURCE_DIR}/src)
  target_compile_definitions(engine_key_memory_test PRIVATE NUSTREAM_COMMAND="$<TARGET_FILE:nustream>")
endif()
nustream_test(engine_moments_coupling_test quick property/engine_moments_coupling_test.cpp LINK nustream_service fmt::fmt)
