# Makes `cpack` (scripts/package) pack an installed tree as a Debian package and, with all libraries, as a tarball.
set(CPACK_PACKAGE_VERSION ${version_full})  # X.Y.Z+N.gHASH sorts after X.Y.Z
if(NOT version_tagged AND EXISTS ${PROJECT_SOURCE_DIR}/.git)
  # The version of a commit before the first release sorts before the release. Where git is missing or refuses the
  # checkout, the version ends in ~git.
  execute_process(COMMAND git log -1 --format=%cd.%h --date=format:%Y%m%d --abbrev=8
    WORKING_DIRECTORY ${PROJECT_SOURCE_DIR} OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  string(APPEND CPACK_PACKAGE_VERSION "~git${commit}")
endif()

set(CPACK_GENERATOR DEB TXZ)
set(CPACK_PACKAGE_NAME mokume)
set(CPACK_PACKAGE_CONTACT "The mokume authors")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "machine-learning experiments on every OpenCL device")
set(CPACK_PACKAGE_DESCRIPTION "mokume tunes and trains the models that a TOML file describes, on all GPUs and CPUs of a
machine or a cluster, of any vendor. With headers and templates for other backends and models.")
set(CPACK_PACKAGE_FILE_NAME mokume-${CPACK_PACKAGE_VERSION}-linux-${CMAKE_SYSTEM_PROCESSOR})  # of the tarball
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_CURRENT_LIST_DIR}/portable.cmake)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS ${CMAKE_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS})

# The Debian package needs the libraries of the release that it is built on, so its name contains that release.
cmake_host_system_information(RESULT system QUERY DISTRIB_ID DISTRIB_VERSION_ID)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
list(JOIN system "" CPACK_DEBIAN_PACKAGE_RELEASE)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# The program finds these at run time: an OpenCL driver, CLBlast for GPUs, mpirun, and certificates for downloads.
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "pocl-opencl-icd | opencl-icd, libclblast1, openmpi-bin, ca-certificates")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "cmake, g++, nlohmann-json3-dev")
include(CPack)
