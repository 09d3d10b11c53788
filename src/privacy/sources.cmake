# target_sources(nustream_core PRIVATE privacy/….cpp): paths are relative to src/.
