"""Certificates with one fault each, made by the openssl command."""

import os
import subprocess

EXTENSIONS = "subjectAltName = {names}\nbasicConstraints = CA:{ca}\n"


def run(*words):
    subprocess.run(words, check=True, capture_output=True)


class Authority:
    """A certificate authority in `folder`, and certificates that it signs."""

    def __init__(self, folder, name):
        self.folder, self.name = folder, name
        self.key, self.certificate = self.path(name, "key"), self.path(name, "pem")
        run("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", self.key,
            "-out", self.certificate, "-days", "3650", "-subj", f"/CN={name}",
            "-addext", "basicConstraints=critical,CA:TRUE")  # fmt: skip
        for file, content in (("index", ""), ("serial", "1000\n")):
            with open(self.path(name, file), "w", encoding="ascii") as out:
                out.write(content)

    def path(self, name, kind):
        return os.path.join(self.folder, f"{name}.{kind}")

    def sign(self, name, names="DNS:localhost,IP:127.0.0.1", begins="20250101000000Z",
             ends="20990101000000Z"):  # fmt: skip
        """Gives (certificate, key) for `names`, valid between two dates."""
        key, request, out = (self.path(name, kind) for kind in ("key", "csr", "pem"))
        run("openssl", "req", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", request,
            "-subj", f"/CN={name}")  # fmt: skip
        settings = self.path(name, "cnf")
        with open(settings, "w", encoding="ascii") as file:
            file.write("[ca]\ndefault_ca = one\n[one]\n"
                       f"database = {self.path(self.name, 'index')}\n"
                       f"serial = {self.path(self.name, 'serial')}\nnew_certs_dir = {self.folder}\n"
                       "default_md = sha256\npolicy = any\nunique_subject = no\n"
                       "[any]\ncommonName = supplied\n[extra]\n"
                       + EXTENSIONS.format(names=names, ca="FALSE"))  # fmt: skip
        run("openssl", "ca", "-batch", "-config", settings, "-cert", self.certificate,
            "-keyfile", self.key, "-in", request, "-out", out, "-startdate", begins,
            "-enddate", ends, "-extensions", "extra", "-notext")  # fmt: skip
        return out, key


def self_signed(folder):
    """(certificate, key) that nobody has signed but itself."""
    key, out = os.path.join(folder, "self.key"), os.path.join(folder, "self.pem")
    run("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", out,
        "-days", "3650", "-subj", "/CN=localhost",
        "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1")  # fmt: skip
    return out, key
