# target_sources(nustream_core PRIVATE record/….cpp): paths are relative to src/.
