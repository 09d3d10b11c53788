target_sources(nustream_service PRIVATE
  record/partition_recorder.cpp record/record_topic.cpp record/segment_writer.cpp)
