# target_sources(nustream_core PRIVATE lane/….cpp): paths are relative to src/.
