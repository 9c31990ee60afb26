"""nginx.py - a site that nginx serves, whose access log is a witness that is not ours.

    with Nginx(tmp_path / "web", {"/0": "<p>text"}) as web:
        crawl of web.url("/0")
    web.log()       # requests: host, path, began, ended, status; times in seconds, to the millisecond
"""
import collections
import os
import shutil
import signal
import socket
import subprocess
import sys
import time

sys.path.append(os.path.join(os.path.dirname(__file__), ".."))
from ports import free_port  # noqa: E402

PROGRAM = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin:/usr/local/sbin")

Request = collections.namedtuple("Request", "host path began ended status")

CONFIG = """%(user)s
daemon off; worker_processes 1; pid %(folder)s/pid; error_log %(folder)s/error.log warn;
events { worker_connections 2000; }
http {
    log_format witness '$msec $request_time $status $host $request_uri';
    access_log %(folder)s/access.log witness;
    client_body_temp_path %(folder)s/t1; proxy_temp_path %(folder)s/t2; fastcgi_temp_path %(folder)s/t3;
    uwsgi_temp_path %(folder)s/t4; scgi_temp_path %(folder)s/t5;
    keepalive_requests 100000; default_type text/html;
    server {
        listen %(port)d backlog=1000; root %(folder)s/pages;
        %(more)s
    }
}
"""


class Nginx:
    def __init__(self, folder, pages, more=""):
        self.folder, self.more = str(folder), more
        os.makedirs(self.folder + "/pages")
        for path, text in pages.items():
            with open(self.folder + "/pages" + path, "w", encoding="utf-8") as file:
                file.write(text)
        self.port = free_port()

    def __enter__(self):
        with open(self.folder + "/nginx.conf", "w", encoding="utf-8") as file:
            file.write(CONFIG % {"folder": self.folder, "port": self.port, "more": self.more,
                                 "user": "" if os.geteuid() else "user root;"})
        self.process = subprocess.Popen(
            [PROGRAM, "-c", self.folder + "/nginx.conf", "-p", self.folder, "-e", self.folder + "/error.log"])
        for _ in range(24000):
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return self
            except OSError:
                time.sleep(0.01)
        raise RuntimeError("nginx does not start: " + open(self.folder + "/error.log").read())

    def __exit__(self, *why):
        self.process.send_signal(signal.SIGQUIT)
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait(60)

    def url(self, path="/", host="127.0.0.1"):
        return "http://%s:%d%s" % (host, self.port, path)

    def log(self):
        """After the server has ended: what it answered, by the time of its begin."""
        found = []
        with open(self.folder + "/access.log", encoding="utf-8") as file:
            for line in file:
                ended, took, status, host, path = line.split()
                found.append(Request(host, path, float(ended) - float(took), float(ended), int(status)))
        return sorted(found, key=lambda one: one.began)
