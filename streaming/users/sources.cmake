target_sources(nustream_service PRIVATE
  users/partition_number.cpp users/rebuild.cpp users/sealed_key.cpp users/sealed_record.cpp users/user_key.cpp users/user_log.cpp)
