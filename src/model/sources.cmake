# target_sources(nustream_core PRIVATE model/….cpp): paths are relative to src/.
