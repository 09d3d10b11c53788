target_sources(nustream_service PRIVATE
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
  decode/line_buffer.cpp
  decode/reader.cpp
  decode/recorded_reader.cpp
  decode/zstd_source.cpp)
