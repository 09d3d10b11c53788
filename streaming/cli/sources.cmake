# target_sources(nustream_service PRIVATE cli/….cpp): paths are relative to streaming/.
