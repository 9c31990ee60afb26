# seen check --prefix: is anything under this? Only a layered filter can tell.
printf '%s\n' http://a.example/news/2024/may http://a.example/about \
    http://b.example/shop/2023/june >urls
seen build --quiet -o f --kind layered:4 --rate 1e-6 urls
seen build --quiet -o g urls
session <<'END'
seen check --prefix f http://a.example http://a.example/news http://a.example/news/2024
seen check --prefix f http://a.example/shops http://c.example
# Segments of two URLs, which are in the same layers:
seen check --prefix f http://a.example/shop
seen check f http://a.example/shop/2023/june http://a.example/news/2024/may
seen check --prefix g http://a.example
seen check --prefix --json f http://a.example/news 2>/dev/null
END

# What the rate does not cover, and the rule of the paper.
session <<'END'
seen info f | grep -e ^kind -e ^not
seen build --quiet -o p --kind layered:4,published urls
seen info p | grep -e ^kind -e ^not
seen info --json p | grep -o '"ignores_order": *[a-z]*'
seen build --quiet -o x --kind layered:4,neither urls
END
