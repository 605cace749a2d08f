# Run by cpack before it writes a package: the tarball brings its libraries, the Debian package does not.
if(CPACK_GENERATOR STREQUAL "TXZ")
  execute_process(COMMAND ${CMAKE_CURRENT_LIST_DIR}/../scripts/make-portable ${CPACK_TEMPORARY_INSTALL_DIRECTORY}
    COMMAND_ERROR_IS_FATAL ANY)
endif()
