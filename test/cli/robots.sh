# seen robots: what a robots.txt allows, by RFC 9309.
cat >robots.txt <<'END2'
# Two groups, of which a crawler obeys one.
User-agent: *
Disallow: /private
Allow: /private/*.html$     # pages only
Crawl-delay: 2.5

User-agent: other
Disallow: /

Sitemap: https://a.example/sitemap.xml
Sitemap: https://a.example/news.xml
END2
printf 'User-agent: *\nDisallow: /\033[31m\nDisallow: /\377\nSitemap: \033]0;x\007\n' >hostile
session <<'END2'
seen robots robots.txt http://a.example/ http://a.example/private
seen robots robots.txt http://a.example/ http://a.example/private/a.html
seen robots robots.txt --agent other http://a.example/ /robots.txt
seen robots --agent OTHER/1.0 robots.txt /
seen robots - /private/x <robots.txt
seen robots robots.txt
seen robots --explain robots.txt /private/x /private/x.html /x
seen robots --json robots.txt /private/x /x
seen robots --json --agent other robots.txt
seen robots robots.txt /x/../private http://a.example/x/../private http://a.example/%70rivate 'http://a.example/private?x'

# Other answers than 200.
seen robots --status 404 robots.txt /private
seen robots --status 404 --explain none.txt /private
seen robots --status 302 robots.txt /private
seen robots --status 429 robots.txt /
seen robots --status 503 --explain robots.txt /
seen robots --status 0 --explain robots.txt /
seen robots --status 503 --json robots.txt /
seen robots --status 206 robots.txt /private

# Nothing of the file reaches a terminal as it is.
seen robots --explain hostile $'/\e[31m' | cat -v
seen robots --json hostile /%ff
seen robots hostile | cat -v

# 500 KiB count, also of a pipe.
(printf 'User-agent: *\nDisallow: /a\n'; head -c 600000 /dev/zero | tr '\0' '\n'; printf 'Disallow: /b\n') | seen robots - /a /b

# What goes wrong.
seen robots
seen robots none.txt /
seen robots . /
seen robots --status 1000 robots.txt /
seen robots --status x robots.txt /
seen robots --agnet x robots.txt /
END2
