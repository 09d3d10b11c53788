# Makes what is shipped with the command: its bill of materials, and a Debian package with the systemd unit:
#   cmake --build build/release --target nustream sbom && (cd build/release && cpack)
if(NOT TARGET nustream OR NOT EXISTS ${PROJECT_SOURCE_DIR}/packaging)  # an image is built without packaging/
  return()
endif()
set(packaging ${PROJECT_SOURCE_DIR}/packaging)
set(packaged ${PROJECT_BINARY_DIR}/packaging)
file(MAKE_DIRECTORY ${packaged})

# Python and dpkg are needed for packages alone: ./run does without them.
find_package(Python3 COMPONENTS Interpreter)
find_program(DPKG_QUERY dpkg-query)
if(NOT Python3_FOUND OR NOT DPKG_QUERY)
  return()
endif()
add_custom_command(OUTPUT ${packaged}/nustream.spdx.json
  COMMAND ${Python3_EXECUTABLE} ${packaging}/sbom.py $<TARGET_FILE:nustream> ${packaging}/debian/changelog
          ${PROJECT_SOURCE_DIR}/cmake/setup.sh ${packaged}/nustream.spdx.json
  DEPENDS nustream ${packaging}/sbom.py ${packaging}/debian/changelog ${PROJECT_SOURCE_DIR}/cmake/setup.sh)
add_custom_target(sbom ALL DEPENDS ${packaged}/nustream.spdx.json)

# Debian wants these two compressed by gzip -9. Option -n leaves out the time, so that equal builds make equal bytes.
foreach(file debian/changelog nustream.1)
  get_filename_component(name ${file} NAME)
  execute_process(COMMAND gzip -9nc ${packaging}/${file} OUTPUT_FILE ${packaged}/${name}.gz COMMAND_ERROR_IS_FATAL ANY)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${packaging}/${file})
endforeach()

# These files are installed only where the component `service` is asked for, as cpack does. A plain cmake --install installs
# the library and the command alone.
set(documents ${CMAKE_INSTALL_DATAROOTDIR}/doc/nustream)
install(FILES ${PROJECT_SOURCE_DIR}/docker/nustream.service DESTINATION /lib/systemd/system COMPONENT service EXCLUDE_FROM_ALL)
install(FILES ${packaged}/nustream.1.gz DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/man/man1 COMPONENT service EXCLUDE_FROM_ALL)
install(FILES ${packaged}/changelog.gz ${packaging}/debian/copyright ${packaged}/nustream.spdx.json
        DESTINATION ${documents} COMPONENT service EXCLUDE_FROM_ALL)
# A package with the bill of materials of an earlier build would name another program.
install(CODE "
  file(SHA256 \"${PROJECT_BINARY_DIR}/nustream\" program)
  file(READ \"${packaged}/nustream.spdx.json\" bill)
  string(FIND \"\${bill}\" \"\${program}\" at)
  if(at EQUAL -1)
    message(FATAL_ERROR \"the bill of materials is of another program: build the target sbom\")
  endif()" COMPONENT service EXCLUDE_FROM_ALL)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs/ DESTINATION ${documents} COMPONENT service EXCLUDE_FROM_ALL
        FILES_MATCHING PATTERN "*.md" PATTERN results EXCLUDE PATTERN reproduction EXCLUDE)
install(FILES ${PROJECT_SOURCE_DIR}/docker/stream.toml DESTINATION ${documents}/examples COMPONENT service EXCLUDE_FROM_ALL)
install(DIRECTORY DESTINATION /etc/nustream COMPONENT service EXCLUDE_FROM_ALL)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME nustream)
set(CPACK_PACKAGE_CONTACT "The nustream maintainers <maintainers@nustream.invalid>" CACHE STRING "Who answers for the package")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "streaming estimates with differential privacy")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_SET_DESTDIR ON)  # some places are absolute
set(CPACK_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
    OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_INSTALL_CMAKE_PROJECTS "${PROJECT_BINARY_DIR};nustream;service;/")
set(CPACK_COMPONENTS_ALL service)
set(CPACK_DEB_COMPONENT_INSTALL OFF)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION "A stream of personal records, a Kafka topic or recorded files, becomes a
model that is published again and again, for ever, on a finite privacy
budget: each record is one clipped gradient step with correlated noise, and
every release is one of a continual release under zero-concentrated
differential privacy.")
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_DEPENDS "init-system-helpers (>= 1.51)")
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA ${packaging}/debian/postinst ${packaging}/debian/prerm ${packaging}/debian/postrm)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
include(CPack)
