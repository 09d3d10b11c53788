target_sources(nustream_service PRIVATE record/segment_writer.cpp)
