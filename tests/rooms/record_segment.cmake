# Tests of recorded segments: their format, and the recording of them.
find_package(ZLIB REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(ZSTD REQUIRED IMPORTED_TARGET libzstd)
nustream_test(segment_test quick SEPARATE unit/decode_segment_test.cpp unit/decode_segment_damage_test.cpp
              unit/record_segment_writer_test.cpp property/decode_segment_property_test.cpp
              property/record_segment_crash_test.cpp support/simulated_disk.cpp
              LINK nustream_service ZLIB::ZLIB PkgConfig::ZSTD)
nustream_test(record_replay_test quick fault/record_replay_test.cpp LINK nustream_service GTest::gmock)
target_compile_definitions(record_replay_test PRIVATE NUSTREAM_COMMAND="$<TARGET_FILE:nustream>")
add_dependencies(record_replay_test nustream)
