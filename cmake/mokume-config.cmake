# Provides find_package(mokume) with the target mokume::sdk (the headers) and the functions of MokumeModule.cmake.
include(${CMAKE_CURRENT_LIST_DIR}/mokume-targets.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/MokumeModule.cmake)
