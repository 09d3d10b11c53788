# target_sources(nustream_service PRIVATE secrets/….cpp): paths are relative to streaming/.
