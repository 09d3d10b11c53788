target_sources(nustream_service PRIVATE
  decode/bzip2_decompressor.cpp
  decode/csv_columns.cpp
  decode/csv_decoder.cpp
  decode/csv_kernel.cpp
  decode/csv_kernel_avx2.cpp
  decode/csv_kernel_avx512.cpp
  decode/csv_kernel_sse4.cpp
  decode/csv_line.cpp
  decode/decompressor.cpp
  decode/delimiters.cpp
  decode/file_kind.cpp
  decode/first_lines.cpp
  decode/file_source.cpp
  decode/gzip_decompressor.cpp
  decode/header_hints.cpp
  decode/joined_quotes.cpp
  decode/json_decoder.cpp decode/json_members.cpp decode/json_names.cpp
  decode/line_buffer.cpp
  decode/line_decoder.cpp
  decode/member_hints.cpp
  decode/message.cpp
  decode/message_columns.cpp
  decode/message_decoder.cpp
  decode/one_document.cpp
  decode/one_line_files.cpp
  decode/open_source.cpp
  decode/reader.cpp
  decode/recorded_reader.cpp
  decode/same_file.cpp
  decode/seen_lines.cpp
  decode/segment_format.cpp
  decode/segment_reader.cpp
  decode/segment_record.cpp
  decode/segment_rows.cpp
  decode/text_kind.cpp
  decode/xz_decompressor.cpp
  decode/zip_member.cpp
  decode/zip_source.cpp
  decode/zstd_decompressor.cpp)
# Each of these has names and instructions of its own.
set_source_files_properties(decode/csv_kernel.cpp decode/csv_kernel_avx2.cpp decode/csv_kernel_avx512.cpp
                            decode/csv_kernel_sse4.cpp PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
