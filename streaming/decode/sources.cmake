target_sources(nustream_service PRIVATE
  decode/alike.cpp
  decode/csv_columns.cpp
  decode/csv_decoder.cpp
  decode/csv_kernel.cpp
  decode/csv_kernel_avx2.cpp
  decode/csv_kernel_avx512.cpp
  decode/csv_kernel_portable.cpp
  decode/csv_kernel_sse4.cpp
  decode/csv_line.cpp
  decode/event_time.cpp
  decode/file_source.cpp
  decode/gzip_source.cpp
  decode/json_decoder.cpp
  decode/leading_fields.cpp
  decode/line_buffer.cpp
  decode/line_decoder.cpp
  decode/message.cpp
  decode/message_columns.cpp
  decode/message_decoder.cpp
  decode/read_record.cpp
  decode/reader.cpp
  decode/recent_lines.cpp
  decode/recorded_reader.cpp
  decode/segment_format.cpp
  decode/segment_reader.cpp
  decode/segment_record.cpp
  decode/segment_rows.cpp
  decode/zstd_source.cpp)
# Each with names and instructions of its own.
set_source_files_properties(decode/csv_kernel_avx2.cpp decode/csv_kernel_avx512.cpp decode/csv_kernel_portable.cpp
                            decode/csv_kernel_sse4.cpp PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
