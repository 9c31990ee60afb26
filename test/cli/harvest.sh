# What `seen harvest` reports before it connects. The rest needs servers:
# test/harvest/.
session <<'END'
seen harvest
seen harvest https://a.example/
seen harvest https://a.example/ --into
seen harvest https://a.example/ --into in --every 6
seen harvest https://a.example/ --into in --every 0h
seen harvest https://a.example/ --into in --every 6h --dry-run
seen harvest https://a.example/ --into in --names nonsense
seen harvest https://a.example/ --into in --ca
seen harvest https://a.example/ --into in --allow nonsense
seen harvest https://a.example/ --into in --ca none.pem

# Only http and https URLs are accepted.
seen harvest haw.seen --into in
seen harvest file:///etc/passwd --into in
seen harvest https://u:p@a.example/ --into in

# Addresses that are not public are not connected to.
seen harvest http://127.0.0.1:8081/sitemap.xml --into in
seen harvest http://[::1]:8081/x.seen --into in
seen harvest http://0x7f.1:8081/ --into in --dry-run
seen harvest --json http://10.0.0.1/ --into in

# The folder is checked first.
touch file
seen harvest http://127.0.0.1:8081/ --into file
seen harvest http://127.0.0.1:8081/ --into none/such/folder
ls -A in in/.harvest
END
