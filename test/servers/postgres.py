"""postgres.py - a PostgreSQL server for tests, in a folder and on a port of its own.

    with Postgres(tmp_path / "postgres") as server:
        url = server.database("frontier")        # a new, empty database
        server.sql("SELECT count(*) FROM pages", url)
        server.restart("immediate")              # as after kill -9; "fast", "smart"

The tests of a ctest run share one server, which shared_postgres() returns; give each test a database of its own. A
test that stops its server starts one. Root runs it as the user postgres, since the server refuses root.
"""
import glob
import json
import os
import shutil
import subprocess
import sys
import urllib.parse

import place

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from ports import free_port

OWNER = "postgres"
LOCKED, PASSWORD = "locked", "open sesame"


def program(name):
    """Of the newest version that is installed."""
    found = glob.glob("/usr/lib/postgresql/*/bin/" + name)
    path = max(found, key=lambda path: int(path.split("/")[4])) if found else shutil.which(name)
    if not path:
        raise RuntimeError(name + " is not installed: ./setup")
    return path


class Postgres:
    """tls: an Authority, then TLS is offered. durable: flush commits to the disk, as for measurements; a server that is
    killed loses nothing without, too. The user postgres needs no password; the user LOCKED needs PASSWORD."""

    def __init__(self, folder, tls=None, durable=False, settings=None):
        self.folder, self.tls = str(folder), tls
        self.settings = {"fsync": "on" if durable else "off", "max_connections": "200", **(settings or {})}
        self.port, self.authority = 0, tls.certificate if tls else ""

    def _run(self, *command, check=True):
        done = subprocess.run(place.user_of(OWNER) + list(command), cwd="/", stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if check and done.returncode:
            raise RuntimeError(" ".join(command) + ": " + done.stdout + place.read(self.folder + "/log"))
        return done

    def make(self):
        self.folder = place.make_folder(self.folder, OWNER)
        self._run(program("initdb"), "-A", "trust", "--no-sync", "--no-instructions", "-U", "postgres", "-E", "UTF8",
                  "--locale", "C.UTF-8", "-D", self.folder + "/data")
        with open(self.folder + "/data/pg_hba.conf", "r+", encoding="utf-8") as file:
            rules = file.read()
            file.seek(0)
            file.write("host all %s 127.0.0.1/32 scram-sha-256\n" % LOCKED + rules)
        if self.tls:
            certificate, key = self.tls.issue("localhost", self.folder)
            for path in (certificate, key):
                os.chmod(path, 0o600)
                if place.user_of(OWNER):
                    shutil.chown(path, OWNER, OWNER)
            self.settings.update(ssl="on", ssl_cert_file=certificate, ssl_key_file=key)
        self.port = free_port()
        return self

    def start(self):
        fresh = not self.port
        if fresh:
            self.make()
        options = "-p %d -k '' -c listen_addresses=127.0.0.1" % self.port
        options += "".join(" -c %s='%s'" % setting for setting in self.settings.items())
        self._run(program("pg_ctl"), "-w", "-s", "-D", self.folder + "/data", "-l", self.folder + "/log",
                  "-o", options, "start")
        if fresh:
            self.sql("CREATE ROLE %s LOGIN PASSWORD '%s'" % (LOCKED, PASSWORD))
        return self

    def stop(self, mode="immediate"):
        self._run(program("pg_ctl"), "-w", "-s", "-D", self.folder + "/data", "-m", mode, "stop", check=False)

    def restart(self, mode="fast"):
        self.stop(mode)
        self.start()

    def remove(self):
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    __enter__ = start

    def __exit__(self, *why):
        self.remove()

    def pid(self):
        """Of the postmaster."""
        return int(place.read(self.folder + "/data/postmaster.pid").split()[0])

    def answers(self):
        return self._run(program("pg_isready"), "-q", "-h", "127.0.0.1", "-p", str(self.port),
                         check=False).returncode == 0

    def url(self, database="postgres", host="127.0.0.1", port=None, **query):
        """query: sslmode="verify-full" and the like. Without TLS, unless that asks for it."""
        query.setdefault("sslmode", "disable")
        more = "?" + urllib.parse.urlencode(query) if query else ""
        return "postgresql://postgres@%s:%d/%s%s" % (host, port or self.port, database, more)

    def sql(self, text, database="postgres"):
        """Run statements in a database, given by name or URL; their rows as lines, columns separated by |."""
        url = database if "://" in database else self.url(database)
        return self._run("psql", "-XAtq", "-v", "ON_ERROR_STOP=1", "-d", url, "-c", text).stdout.strip()

    def database(self, name):
        """The URL of a new database. Its name ends with the number of the process, since the tests of several builds
        run at once."""
        name += "_%d" % os.getpid()
        self.sql('DROP DATABASE IF EXISTS "%s" WITH (FORCE)' % name)
        self.sql('CREATE DATABASE "%s" TEMPLATE template0' % name)
        return self.url(name)

    # The server of a ctest run outlives the process that starts it.

    def save(self, path):
        with open(path + ".new", "w", encoding="utf-8") as file:
            json.dump({"folder": self.folder, "port": self.port, "settings": self.settings, "url": self.url(),
                       "authority": self.authority}, file)
        os.rename(path + ".new", path)

    @classmethod
    def load(cls, path):
        with open(path, encoding="utf-8") as file:
            kept = json.load(file)
        server = cls(kept["folder"])
        server.port, server.settings, server.authority = kept["port"], kept["settings"], kept["authority"]
        return server


def shared_postgres():
    """The server of the ctest run. SEEN_POSTGRES in the environment names the file that describes it."""
    return Postgres.load(os.environ["SEEN_POSTGRES"])
