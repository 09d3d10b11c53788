target_sources(nustream_service PRIVATE
  local/collect.cpp local/collector_folder.cpp local/counting.cpp local/id_set.cpp local/lines.cpp local/model_text.cpp
  local/public_rows.cpp local/randomize.cpp local/record_reader.cpp local/report.cpp local/report_store.cpp
  local/settings.cpp local/topic_reports.cpp)
