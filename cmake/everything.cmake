# everything.cmake - read by ctest in build/: see the end of
# test/CMakeLists.txt. A build that is not there has no tests.
if(DEFINED ENV{SEEN_TEST_ALL})
    foreach(other asan tsan fuzz)
        set(folder ${CMAKE_CURRENT_LIST_DIR}/../build-${other}/test)
        if(EXISTS ${folder}/CTestTestfile.cmake)
            subdirs(${folder})
        endif()
    endforeach()
endif()
