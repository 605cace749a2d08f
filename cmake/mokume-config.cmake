# find_package(mokume): the target mokume::sdk (the headers) and the functions mokume_module() and mokume_embed().
include(${CMAKE_CURRENT_LIST_DIR}/mokume-targets.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/MokumeModule.cmake)
