# target_sources(nustream_service PRIVATE journal/….cpp): paths are relative to streaming/.
