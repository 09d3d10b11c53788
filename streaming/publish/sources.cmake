target_sources(nustream_service PRIVATE publish/original_units.cpp publish/release_json.cpp)
