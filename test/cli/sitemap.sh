# seen sitemap: the URLs of sitemaps, feeds and texts.
space=http://www.sitemaps.org/schemas/sitemap/0.9
cat >sitemap.xml <<END2
<?xml version="1.0" encoding="UTF-8"?>
<urlset xmlns="$space">
  <url><loc>http://a.example/</loc><lastmod>2026-11-15</lastmod></url>
  <url><loc>/news?a=1&amp;b=2</loc></url>
</urlset>
END2
cat >index.xml <<END2
<sitemapindex xmlns="$space">
  <sitemap><loc>http://a.example/1.xml.gz</loc></sitemap>
</sitemapindex>
END2
cat >rss.xml <<'END2'
<rss version="2.0"><channel><link>http://a.example/</link>
  <item><link>http://a.example/1</link><pubDate>Sun, 15 Nov 2026 10:00:00 GMT</pubDate></item>
  <item><guid>http://a.example/2</guid></item>
</channel></rss>
END2
cat >atom.xml <<'END2'
<feed xmlns="http://www.w3.org/2005/Atom">
  <entry><link rel="self" href="x"/><link href="/1"/><updated>2026-11-15T10:00:00Z</updated></entry>
</feed>
END2
printf 'http://a.example/1\nhttp://a.example/2\n' >list.txt
gzip -nk sitemap.xml
head -n 4 sitemap.xml >cut.xml
head -c 90 sitemap.xml.gz >cut.gz
sed 's|/news.*2<|ftp://a.example/<|' sitemap.xml >ftp.xml
printf '<urlset/>' >empty.xml
printf '<!DOCTYPE html><html><body>\n' >page.html
session <<'END2'
seen sitemap sitemap.xml --base http://a.example/sitemap.xml
seen sitemap --json sitemap.xml --base http://a.example/sitemap.xml
seen sitemap sitemap.xml.gz --base http://a.example/
seen sitemap - --base http://a.example/ <sitemap.xml.gz
seen sitemap --json index.xml
seen sitemap --json rss.xml
seen sitemap --json atom.xml --base http://a.example/feed
seen sitemap list.txt

# Entries without a URL cost only themselves.
seen sitemap sitemap.xml
seen sitemap ftp.xml --base http://a.example/
seen sitemap empty.xml

# What was read before a mistake is printed.
seen sitemap cut.xml --base http://a.example/
seen sitemap cut.gz --base http://a.example/
(cat sitemap.xml.gz; echo more) | seen sitemap - --base http://a.example/
seen sitemap page.html
seen sitemap - <"$SEEN" 2>&1 | tail -n 1
seen sitemap /dev/null

# What goes wrong.
seen sitemap
seen sitemap none.xml
seen sitemap .
seen sitemap sitemap.xml --base x
seen sitemap sitemap.xml index.xml
END2
