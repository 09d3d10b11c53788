target_sources(nustream_service PRIVATE
  users/going_on.cpp users/closing_mark.cpp users/disk_table.cpp users/log_writer.cpp users/open_table.cpp users/rebuild.cpp users/sealed_files.cpp users/sealed_record.cpp users/topic_log.cpp users/topic_mark.cpp users/user_totals.cpp users/user_key.cpp users/user_log.cpp)
