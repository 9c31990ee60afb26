# seen links: what a page links to.
cat >page.html <<'END'
<!doctype html><title>A page</title><base href="/dir/"><base href="/no/">
<link rel=canonical href=page><link rel=stylesheet href=s.css>
<a href=" one.html
" rel="ugc">One <b>more</b></a> <a href="?a=1&copy=2&amp;b=3#f"><img src=i.png
alt="An image"></a> <a href=mailto:a@b.example>mail</a>
<!-- <a href=hidden> --><script>"<a href=hidden>"</script>
<form action=search></form><iframe src=//b.example/f></iframe>
<map><area href=area alt="An area"></map>
<meta http-equiv=refresh content="5; url='next'">
<style>@import "t.css"; p { background: url(u.png) }</style>
END
printf '\xff\xfe<\0a\0 \0h\0r\0e\0f\0=\0x\0>\0' >utf16.html
printf '<a href="?\xe9">\xe9</a>' >latin.html
echo '@import "a.css"; p { background: url(b.png) }' >style.css
echo '<a href="x"/><title/><a href="y"/>' >page.xhtml
: >empty.html
session <<'END'
seen links page.html --base http://a.example/p
seen links page.html --base http://a.example/p --json
seen links page.html --base http://a.example/p --requisites
seen links - --base http://a.example/ <page.html | head -n 2

# Headers.
seen links empty.html --base http://a.example/p --header 'Link: </l>; rel="next", <m>; rel=prev; title="a, b"' --header 'Refresh: 0;url=r'
seen links page.html --base http://a.example/p --header 'X-Robots-Tag: otherbot: none' --json | grep -c '"nofollow": true'
seen links page.html --base http://a.example/p --header 'X-Robots-Tag: seen: nofollow' --json | grep -c '"nofollow": true'

# Types and charsets.
seen links utf16.html --base http://a.example/
seen links latin.html --base http://a.example/ --charset iso-8859-1 --json
seen links latin.html --base http://a.example/ --header 'Content-Type: text/html; charset=koi8-r'
seen links style.css --base http://a.example/s/ --requisites
seen links latin.html --base http://a.example/s/ --type text/css --requisites
seen links page.xhtml --base http://a.example/
seen links page.xhtml --base http://a.example/ --type text/html

# What is wrong is said.
seen links empty.html --base http://a.example/
seen links page.html
seen links page.html --base page
seen links page.html --base http://a.example/ --header nonsense
seen links gone.html --base http://a.example/
seen links --base http://a.example/
END
