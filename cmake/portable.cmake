# cpack runs this script before it writes a package. Only the tarball brings its libraries.
if(CPACK_GENERATOR STREQUAL "TXZ")
  execute_process(COMMAND ${CMAKE_CURRENT_LIST_DIR}/../scripts/make-portable ${CPACK_TEMPORARY_INSTALL_DIRECTORY}
    COMMAND_ERROR_IS_FATAL ANY)
endif()
