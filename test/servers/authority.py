"""authority.py - a certificate authority for tests of TLS.

    authority = Authority(tmp_path / "ca")
    with Postgres(tmp_path / "postgres", tls=authority) as server:
        server.url(host="localhost", sslmode="verify-full", sslrootcert=authority.certificate)
"""
import os
import subprocess


class Authority:
    def __init__(self, folder):
        self.folder = str(folder)
        os.makedirs(self.folder, exist_ok=True)
        self.certificate, self.key = self.folder + "/ca.pem", self.folder + "/ca.key"
        self._openssl("req", "-x509", "-subj", "/CN=seen test authority", "-days", "2", "-keyout", self.key, "-out",
                      self.certificate, *self._fresh())

    @staticmethod
    def _fresh():
        return "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"

    @staticmethod
    def _openssl(*arguments):
        subprocess.run(["openssl", *arguments], check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)

    def issue(self, name, folder):
        """The files of a certificate for this name, and of its key."""
        at = "%s/%s" % (folder, name)
        self._openssl("req", "-subj", "/CN=" + name, "-addext", "subjectAltName=DNS:" + name, "-keyout", at + ".key",
                      "-out", at + ".csr", *self._fresh())
        self._openssl("x509", "-req", "-in", at + ".csr", "-CA", self.certificate, "-CAkey", self.key,
                      "-CAcreateserial", "-days", "2", "-copy_extensions", "copy", "-out", at + ".pem")
        return at + ".pem", at + ".key"
