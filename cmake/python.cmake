# python.cmake - the Python package `seen` (python/): build/python/seen.
#
#     PYTHONPATH=build/python python3 -c 'import seen'
#
# The extension uses the stable ABI of Python 3.11: one file, _seen.abi3.so, for
# all later versions. It links libseen.so. If the headers of Python (python3-dev)
# or libseen.so are missing, the package is left out.
if(NOT TARGET libseen)
    return()
endif()

# Debian's Python, not one of another place that comes first in PATH.
if(NOT Python3_EXECUTABLE AND EXISTS /usr/bin/python3)
    set(Python3_EXECUTABLE /usr/bin/python3)
endif()
find_package(Python3 3.11 COMPONENTS Interpreter Development.Module)
if(NOT Python3_Development.Module_FOUND)
    message(STATUS "the Python package is left out: python3-dev was not found")
    return()
endif()

set(package ${PROJECT_BINARY_DIR}/python/seen)
file(GLOB sources CONFIGURE_DEPENDS python/*.c)
add_library(python_extension MODULE ${sources})
set_target_properties(python_extension PROPERTIES
    OUTPUT_NAME _seen PREFIX "" SUFFIX .abi3.so
    LIBRARY_OUTPUT_DIRECTORY ${package}
    BUILD_RPATH_USE_ORIGIN ON)
target_include_directories(python_extension SYSTEM PRIVATE
                           ${Python3_INCLUDE_DIRS})
target_link_libraries(python_extension PRIVATE libseen Threads::Threads)
seen_flags(python_extension)

# The files of Python are copied beside it.
file(GLOB modules CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}/python/seen
     python/seen/*.py python/seen/*.pyi python/seen/py.typed)
set(copies "")
foreach(module ${modules})
    set(from ${PROJECT_SOURCE_DIR}/python/seen/${module})
    add_custom_command(OUTPUT ${package}/${module}
        COMMAND ${CMAKE_COMMAND} -E copy ${from} ${package}/${module}
        DEPENDS ${from} VERBATIM)
    list(APPEND copies ${package}/${module})
endforeach()
add_custom_target(python ALL DEPENDS ${copies})
add_dependencies(python python_extension)

# /usr is for Debian packages, whose modules are found by every version of
# Python 3 and whose libraries need no search path. Other prefixes are searched
# by version.
if(NOT SEEN_PYTHON_DIR)
    if(CMAKE_INSTALL_PREFIX STREQUAL "/usr")
        set(SEEN_PYTHON_DIR lib/python3/dist-packages)
    else()
        set(SEEN_PYTHON_DIR lib/python${Python3_VERSION_MAJOR}.${Python3_VERSION_MINOR}/dist-packages)
    endif()
endif()
if(NOT CMAKE_INSTALL_PREFIX STREQUAL "/usr")
    file(RELATIVE_PATH up ${CMAKE_INSTALL_PREFIX}/${SEEN_PYTHON_DIR}/seen
         ${CMAKE_INSTALL_FULL_LIBDIR})
    set_target_properties(python_extension PROPERTIES
                          INSTALL_RPATH "$ORIGIN/${up}")
endif()
install(TARGETS python_extension LIBRARY DESTINATION ${SEEN_PYTHON_DIR}/seen
        COMPONENT python)
list(TRANSFORM modules PREPEND ${PROJECT_SOURCE_DIR}/python/seen/)
install(FILES ${modules} DESTINATION ${SEEN_PYTHON_DIR}/seen COMPONENT python)
