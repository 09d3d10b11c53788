# target_sources(nustream_core PRIVATE noise/….cpp): paths are relative to src/.
