target_sources(nustream_service PRIVATE
  folder/options.cpp folder/owed_spend.cpp folder/session.cpp folder/window.cpp)
