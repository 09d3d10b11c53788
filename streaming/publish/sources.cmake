# target_sources(nustream_service PRIVATE publish/….cpp): paths are relative to streaming/.
