# target_sources(nustream_service PRIVATE decode/….cpp): paths are relative to streaming/.
