# target_sources(nustream_core PRIVATE descent/….cpp): paths are relative to src/.
