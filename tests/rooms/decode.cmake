# Tests of the decode room, one line a binary.
find_package(ZLIB REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(ZSTD REQUIRED IMPORTED_TARGET libzstd)
find_package(BZip2 REQUIRED)
find_package(LibLZMA REQUIRED)
find_package(simdjson REQUIRED)
nustream_test(decode_test quick SEPARATE unit/decode_csv_line_test.cpp unit/decode_source_test.cpp unit/decode_reader_test.cpp
              unit/decode_file_kind_test.cpp unit/decode_text_kind_test.cpp unit/decode_first_lines_test.cpp unit/decode_above_test.cpp unit/decode_utf8_test.cpp
              unit/decode_delimiters_test.cpp unit/decode_json_names_test.cpp
              unit/decode_csv_test.cpp unit/decode_json_test.cpp unit/decode_json_members_test.cpp unit/decode_message_test.cpp golden/decode_retail_test.cpp
              LINK nustream_service GTest::gmock simdjson::simdjson ZLIB::ZLIB PkgConfig::ZSTD BZip2::BZip2 LibLZMA::LibLZMA)
nustream_test(decode_property_test quick SEPARATE property/decode_kernel_property_test.cpp
              property/decode_framing_property_test.cpp property/decode_joined_quotes_test.cpp property/decode_csv_property_test.cpp property/decode_message_property_test.cpp
              property/decode_public_rows_test.cpp
              LINK nustream_service ZLIB::ZLIB PkgConfig::ZSTD)
