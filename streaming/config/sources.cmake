# target_sources(nustream_service PRIVATE config/….cpp): paths are relative to streaming/.
