# flags.cmake - compiler and linker flags of all targets: warnings, hardening,
# sanitizers. seen_flags(TARGET) sets them as private, so that an installed
# target does not pass them on to the programs that link it.
include(CheckCCompilerFlag)
include(CheckPIESupported)

set(warnings
    -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion
    -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith -Wcast-qual
    -Wwrite-strings -Wvla -Wformat=2 -Wundef)
if(SEEN_WERROR)
    list(APPEND warnings -Werror)
endif()

set(compile "")
set(link "")
# All code is for Linux and glibc, so sources do not define feature macros.
set(define _GNU_SOURCE=)

if(SEEN_PORTABLE)
    list(APPEND define SEEN_PORTABLE=1)
endif()

if(SEEN_SANITIZE)
    list(APPEND compile -fsanitize=${SEEN_SANITIZE} -fno-sanitize-recover=all
                        -fno-omit-frame-pointer)
    list(APPEND link -fsanitize=${SEEN_SANITIZE})
    # gcc's instrumentation, and less optimisation, cause false warnings of
    # uninitialised variables and of cut texts. The release build has them.
    if(CMAKE_C_COMPILER_ID STREQUAL GNU)
        list(APPEND warnings -Wno-maybe-uninitialized -Wno-format-truncation
                             -Wno-format-overflow)
    endif()
    if(SEEN_FUZZ)
        list(APPEND compile -fsanitize=fuzzer-no-link)
    endif()
elseif(SEEN_HARDEN)
    check_pie_supported(LANGUAGES C)
    foreach(flag -fstack-protector-strong -fstack-clash-protection
                 -fcf-protection)
        string(MAKE_C_IDENTIFIER "has${flag}" has)
        check_c_compiler_flag(${flag} ${has})
        if(${has})
            list(APPEND compile ${flag})
        endif()
    endforeach()
    # Fortified functions need optimisation. A level set by the user is kept.
    if(NOT CMAKE_C_FLAGS MATCHES "_FORTIFY_SOURCE")
        list(APPEND compile
             $<$<CONFIG:RelWithDebInfo,Release,MinSizeRel>:-U_FORTIFY_SOURCE>
             $<$<CONFIG:RelWithDebInfo,Release,MinSizeRel>:-D_FORTIFY_SOURCE=2>)
    endif()
    list(APPEND link -Wl,-z,relro,-z,now -Wl,-z,noexecstack)
endif()

set(SEEN_COMPILE ${warnings} ${compile})
set(SEEN_LINK ${link})
set(SEEN_DEFINE ${define})

# With a sanitizer, gcc compiles three times as fast without optimisation, and
# the tests find the same. Where they spend their time, the preset's -O1 stays.
set(SEEN_HOT seen_objects share_objects change_objects web_objects)

function(seen_flags target)
    target_compile_options(${target} PRIVATE ${SEEN_COMPILE})
    if(SEEN_SANITIZE AND NOT SEEN_FUZZ AND NOT target IN_LIST SEEN_HOT)
        target_compile_options(${target} PRIVATE -O0)
    endif()
    target_compile_definitions(${target} PRIVATE ${SEEN_DEFINE})
    target_link_options(${target} PRIVATE ${SEEN_LINK})
endfunction()
