target_sources(nustream_service PRIVATE
  recording/partition_recorder.cpp recording/record_topic.cpp recording/segment_writer.cpp)
