target_sources(nustream_service PRIVATE
  users/clock_of_state.cpp users/closing_mark.cpp users/disk_table.cpp users/log_writer.cpp users/new_epoch.cpp users/open_table.cpp users/partition_number.cpp users/rebuild.cpp users/sealed_files.cpp users/sealed_record.cpp users/stream_key.cpp users/topic_log.cpp users/topic_mark.cpp users/user_counts.cpp users/user_key.cpp users/user_log.cpp)
