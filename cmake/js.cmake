# js.cmake - the npm package in build/js: the reader of js/, with the library as
# WebAssembly.
#
#   js/wasm/*.c, lib/**.c ── clang, wasm-ld ──> seen.wasm ──┐
#   js/*.js, *.d.ts, package.json, README.md ───────────────┴──> build/js
#
# It is left out if clang, lld or the headers of wasi-libc are missing: nothing
# else needs it, but for `seen publish --page`, which says so. The same sources
# and clang give the same bytes, in any folder.
find_program(SEEN_CLANG NAMES clang clang-19 clang-18 clang-17 clang-16
             clang-15 clang-14)
find_program(SEEN_WASM_LD NAMES wasm-ld wasm-ld-19 wasm-ld-18 wasm-ld-17
             wasm-ld-16 wasm-ld-15 wasm-ld-14)
find_path(SEEN_WASI_INCLUDE __errno_values.h
          PATHS /usr/include/wasm32-wasi NO_DEFAULT_PATH)
if(NOT (SEEN_CLANG AND SEEN_WASM_LD AND SEEN_WASI_INCLUDE))
    message(STATUS "js/ is left out: clang, lld or wasi-libc was not found")
    return()
endif()

# Of the library what a reader calls: the linker takes the functions of it that
# are used. What writes files or starts threads does not compile here.
file(GLOB js_sources CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}
     js/wasm/*.c lib/url/*.c lib/key/*.c lib/filter/*.c)
list(FILTER js_sources EXCLUDE REGEX "filter/(build|key_log|crew|distinct)\\.c$")
foreach(name blocks cells fault format journal meta nodes paths reader replay
             text)
    list(APPEND js_sources lib/store/${name}.c)
endforeach()
foreach(name buffer hex number percent sip utf8)
    list(APPEND js_sources lib/text/${name}.c)
endforeach()
list(APPEND js_sources lib/error.c lib/disk/walk.c lib/share/delta.c
     lib/share/delta_apply.c lib/share/digest.c lib/share/rice.c)

# Without -Oz, unrolling and forced inlining the module is half as large, and
# hardly slower.
set(js_flags --target=wasm32-wasi -std=gnu11 -Oz -fno-unroll-loops
    -mllvm -pragma-unroll-threshold=1 -mbulk-memory -fno-strict-aliasing
    -ffunction-sections -fdata-sections -DNDEBUG -D_GNU_SOURCE=
    -DSEEN_ANSWERS_ONLY -Dalways_inline=unused
    -D_Thread_local= -DXXH_NO_STREAM -nostdlibinc
    -isystem ${PROJECT_SOURCE_DIR}/js/wasm/include
    -isystem ${SEEN_WASI_INCLUDE} -isystem ${PROJECT_BINARY_DIR}/js-include
    -I${PROJECT_SOURCE_DIR}/include)
configure_file(${XXHASH_INCLUDE}/xxhash.h js-include/xxhash.h COPYONLY)

set(js_objects "")
foreach(source ${js_sources})
    string(REPLACE "/" "-" object ${source})
    set(object ${PROJECT_BINARY_DIR}/js-objects/${object}.o)
    set(more "")
    if(source STREQUAL "js/wasm/libc.c")
        set(more -fno-builtin)      # or memcpy() would call itself
    endif()
    add_custom_command(OUTPUT ${object}
        COMMAND ${SEEN_CLANG} ${js_flags} ${more} -w -MMD -MF ${object}.d
                -MT ${object} -c ${PROJECT_SOURCE_DIR}/${source} -o ${object}
        DEPENDS ${PROJECT_SOURCE_DIR}/${source} DEPFILE ${object}.d VERBATIM
        COMMENT "Building ${source} for WebAssembly")
    list(APPEND js_objects ${object})
endforeach()
file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/js-objects ${PROJECT_BINARY_DIR}/js)

set(js_wasm ${PROJECT_BINARY_DIR}/js/seen.wasm)
set(js_list ${PROJECT_SOURCE_DIR}/js/wasm/imports.txt)
add_custom_command(OUTPUT ${js_wasm}
    COMMAND ${SEEN_WASM_LD} --no-entry --gc-sections --strip-all -O2
            --compress-relocations -z stack-size=262144 --allow-undefined-file=${js_list}
            -o ${js_wasm} ${js_objects}
    DEPENDS ${js_objects} ${js_list} VERBATIM)

file(GLOB js_files CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}/js
     js/*.js js/*.d.ts js/README.md)
set(VERSION ${PROJECT_VERSION})
configure_file(js/package.json js/package.json @ONLY)
set(js_package ${js_wasm})
set(js_bare ${PROJECT_SOURCE_DIR}/cmake/bare.cmake)
foreach(name ${js_files})
    set(copy -E copy ${PROJECT_SOURCE_DIR}/js/${name}
        ${PROJECT_BINARY_DIR}/js/${name})
    if(name MATCHES "\\.js$")
        set(copy -D FROM=${PROJECT_SOURCE_DIR}/js/${name}
            -D TO=${PROJECT_BINARY_DIR}/js/${name} -P ${js_bare})
    endif()
    add_custom_command(OUTPUT ${PROJECT_BINARY_DIR}/js/${name}
        COMMAND ${CMAKE_COMMAND} ${copy}
        DEPENDS ${PROJECT_SOURCE_DIR}/js/${name} ${js_bare} VERBATIM)
    list(APPEND js_package ${PROJECT_BINARY_DIR}/js/${name})
endforeach()
add_custom_target(js ALL DEPENDS ${js_package})
