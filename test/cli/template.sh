# seen template: selectors, and templates that are checked, tried and converted.
cat >page.html <<'END'
<html><head><title>A page</title></head><body>
<h1>Hello
   <b>big</b> world</h1>
<ul id=list><li>1<li class=x>2<li>3</ul>
<table><tr><td>a<td>b<tr><td>c<td>d</table>
<p>tab	here</p><div id=links><a href="x?utm_a=1">X</a> <a href="/y">Y</a></div>
<a href="http://b.example/">B</a></body></html>
END
printf '<p>caf\351' >latin.html
printf '<p>\033[31mred\001' >escape.html
cat >good.json <<'END'
{
  "name": "pages",
  "start": "http://a.example/[1-3]",
  "follow": [{"css": "#links", "deny": "/y$", "type": "page"}],
  "pages": {
    "page": {
      "url": "/[0-9]+$",
      "fields": {
        "Title": "h1",
        "Items": {"css": "#list li", "type": "number", "many": true},
        "Date": {"css": "time", "type": "date"}
      }
    },
    "strict": {"fields": {"Gone": {"css": "h9", "required": true}}}
  },
  "clean": {"strip": "utm_*"}
}
END
cat >bad.json <<'END'
{
  "start": "http://a.example/[5-1]",
  "dommains": ["a.example"],
  "follow": [
    {"css": "a..b",
     "dney": "x"}
  ],
  "politeness": {"robots": false}
}
END
cat >good.xml <<'END'
<template name="pages">
  <start>http://a.example/</start>
  <pages><page name="page"><fields>
    <field name="Title">h1::text</field>
    <field name="Items" type="number" many="true">#list li</field>
  </fields></page></pages>
</template>
END
printf '<template>\n<start>x</start>\n<pages><p/></pages></template>' >bad.xml
printf '<!DOCTYPE t [<!ENTITY a "b">]><template>&a;</template>' >dtd.xml
printf '<template>\n<start>' >cut.xml
printf '<template/>' >empty.xml
session <<'END2'
# Elements are printed as HTML, texts and attributes as they are, in one line.
seen template select page.html h1
seen template select page.html h1::text
seen template select page.html 'h1 ::text'
seen template select page.html 'li:nth-child(odd)::text'
seen template select page.html 'table > tbody > tr:nth-child(2) > td::text'
seen template select page.html '/html/body/table/tbody/tr[1]/td[2]/text()'
seen template select page.html 'a::attr(href)'
seen template select page.html 'a::attr(href)' --base http://a.example/b/c
seen template select page.html 'count(//li)' --xpath
seen template select page.html 'h1, li.x, a::attr(href)' --json
seen template select - title::text <page.html
seen template select latin.html p::text
seen template select latin.html p::text --charset iso-8859-2
seen template select escape.html p::text | od -c | head -2
seen template select page.html p::text | od -c | head -1

# Nothing found is 1, trouble is 2.
seen template select page.html h9
seen template select page.html 'li:nth-child(2n+)'
seen template select page.html '//li['
seen template select page.html 'a:foo' --json
seen template select missing.html a
seen template select page.html a --base nonsense
seen template select page.html
seen template select page.html a b
seen template nonsense
seen template
seen template check good.json --json

# Templates.
seen template check good.json
seen template check good.xml
seen template check bad.json
seen template check bad.xml
seen template check dtd.xml
seen template check cut.xml
seen template check empty.xml
seen template try good.json page.html
seen template try good.json page.html --base http://a.example/other
seen template try good.json page.html --type strict
seen template try good.json page.html --type nope
seen template try good.json page.html --json
seen template try good.json http://127.0.0.1:8089/x
seen template try bad.json page.html
seen template convert good.xml -o good2.json; cat good2.json
seen template convert good.xml
seen template convert bad.xml -o bad2.json; ls bad2.json
END2
