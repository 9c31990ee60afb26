# embed.cmake - write files as C arrays, to embed them in a program.
#
#     cmake -D OUT=page_data.c -D FOLDER=serve/page -D NAME=page
#           "-DENDINGS=html css js svg" "-DFIELDS=path type etag bytes len"
#           -P cmake/embed.cmake
#
# Every file of the folder with one of the endings becomes a row of
# `const struct NAME_file NAME_files[]`, sorted by name, and NAME_count is the
# number of rows. NAME.h declares both. FIELDS selects the fields of a row:
#
#     name     "page.css"
#     path     "/page.css"; for index.html it is "/"
#     type     the media type
#     etag     a part of the SHA-256, so that clients can ask for changes only
#     bytes, len
#
# The same files give the same output. Bytes are written one by one, because C
# guarantees only 4095 of them in a string literal.
cmake_minimum_required(VERSION 3.25)

set(type_html "text/html; charset=utf-8")
set(type_css "text/css; charset=utf-8")
set(type_js "text/javascript; charset=utf-8")
set(type_svg "image/svg+xml")
set(type_tsv "text/tab-separated-values; charset=utf-8")

separate_arguments(ENDINGS)
separate_arguments(FIELDS)
set(patterns "")
foreach(ending ${ENDINGS})
    list(APPEND patterns ${FOLDER}/*.${ending})
endforeach()

string(REPEAT "0x..," 15 line)          # fifteen bytes: 75 columns
set(arrays "")
set(rows "")
file(GLOB names RELATIVE ${FOLDER} ${patterns})
list(SORT names)
foreach(name ${names})
    string(MAKE_C_IDENTIFIER "${NAME}_${name}" symbol)
    string(REGEX MATCH "[a-z]+$" ending ${name})
    string(REGEX REPLACE "^index\\.html$" "" path ${name})
    file(SHA256 ${FOLDER}/${name} sum)
    string(SUBSTRING ${sum} 0 16 sum)

    file(READ ${FOLDER}/${name} bytes HEX)
    string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
    string(REGEX REPLACE "(${line})" "\\1\n" bytes "${bytes}")
    string(APPEND arrays
        "static const unsigned char ${symbol}[] = {\n${bytes}\n};\n\n")

    set(field_name "\"${name}\"")
    set(field_path "\"/${path}\"")
    set(field_type "\"${type_${ending}}\"")
    set(field_etag "\"\\\"${sum}\\\"\"")
    set(field_bytes "${symbol}")
    set(field_len "sizeof ${symbol}")
    string(APPEND rows "    {")
    foreach(field ${FIELDS})
        string(APPEND rows " .${field} = ${field_${field}},\n     ")
    endforeach()
    string(APPEND rows "},\n")
endforeach()

file(WRITE ${OUT}
    "/* Made by cmake/embed.cmake; do not edit. */\n"
    "#include \"${NAME}.h\"\n\n${arrays}"
    "const struct ${NAME}_file ${NAME}_files[] = {\n${rows}};\n\n"
    "const size_t ${NAME}_count = sizeof ${NAME}_files / sizeof *${NAME}_files;\n")
