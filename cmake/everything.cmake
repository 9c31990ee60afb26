# everything.cmake - ctest in build/ reads this file to add the tests of other
# builds; see the end of test/CMakeLists.txt. Missing builds are skipped.
if(DEFINED ENV{SEEN_TEST_ALL})
    foreach(other asan tsan fuzz)
        set(folder ${CMAKE_CURRENT_LIST_DIR}/../build-${other}/test)
        if(EXISTS ${folder}/CTestTestfile.cmake)
            subdirs(${folder})
        endif()
    endforeach()
endif()
