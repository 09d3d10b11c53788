# target_sources(nustream_service PRIVATE replay/….cpp): paths are relative to streaming/.
