# `cmake --install` installs the core library with a package config for find_package(nustream), and the command.
include(CMakePackageConfigHelpers)
install(TARGETS nustream_core EXPORT nustream_targets
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY include/nustream DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT nustream_targets NAMESPACE nustream:: FILE nustreamTargets.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/nustream)
configure_package_config_file(cmake/nustreamConfig.cmake.in ${CMAKE_CURRENT_BINARY_DIR}/nustreamConfig.cmake
                              INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/nustream)
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/nustreamConfigVersion.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/nustreamConfig.cmake ${CMAKE_CURRENT_BINARY_DIR}/nustreamConfigVersion.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/nustream)
if(TARGET nustream)
  install(TARGETS nustream RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT service)
endif()
