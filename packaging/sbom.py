"""Prints the SBOM of a tarball (SPDX 2.3, JSON): which packages of Debian are in it, and puts their
licences into share/doc/gconv/licences of its folder.

Usage: sbom.py NAME VERSION FOLDER [CUDA] <FILES
FILES are libraries of this machine that were copied into the folder. xxHash is a header alone. CUDA
is the version of the toolkit whose runtime is in the CUDA module.
"""

import datetime
import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import sys


def ask(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def owner(file):
    """The package of a file, which may be known by its name before /usr was merged."""
    real = os.path.realpath(file)
    for name in (file, real, real.removeprefix("/usr")):
        found = subprocess.run(["dpkg-query", "-S", name], capture_output=True, text=True)
        if found.returncode == 0:
            return found.stdout.split(": ")[0].split(",")[0]
    sys.exit(f"sbom.py: no package of Debian has {file}")


def package(name, licences):
    source, version, page, architecture = ask(
        "dpkg-query", "-W",
        "-f=${source:Package}\t${Version}\t${Homepage}\t${Architecture}", name).split("\t")
    bare = name.split(":")[0]
    shutil.copy(f"/usr/share/doc/{bare}/copyright", licences / bare)
    return {
        "SPDXID": f"SPDXRef-{bare.replace('+', '-')}",
        "name": bare,
        "versionInfo": version,
        "supplier": "Organization: Debian",
        "downloadLocation": "NOASSERTION",
        "filesAnalyzed": False,
        "homepage": page or "NOASSERTION",
        "licenseConcluded": "NOASSERTION",
        "licenseDeclared": "NOASSERTION",
        "licenseComments": f"share/doc/gconv/licences/{bare}",
        "copyrightText": "NOASSERTION",
        "externalRefs": [{
            "referenceCategory": "PACKAGE-MANAGER",
            "referenceType": "purl",
            "referenceLocator": f"pkg:deb/debian/{bare}@{version}?arch={architecture}"
                                f"&upstream={source}",
        }],
    }


def cuda_runtime(version):
    return {
        "SPDXID": "SPDXRef-cudart-static", "name": "cudart_static", "versionInfo": version,
        "supplier": "Organization: NVIDIA", "downloadLocation": "NOASSERTION",
        "filesAnalyzed": False, "licenseConcluded": "NOASSERTION",
        "licenseDeclared": "NOASSERTION", "copyrightText": "NOASSERTION",
        "licenseComments": "The EULA of the CUDA toolkit allows to distribute this library.",
    }


def main(name, version, folder, cuda=""):
    licences = pathlib.Path(folder, "share/doc/gconv/licences")
    licences.mkdir(parents=True, exist_ok=True)
    found = {owner(file): "DYNAMIC_LINK" for file in sys.stdin.read().split()}
    found[owner("/usr/include/xxhash.h")] = "STATIC_LINK"
    own = {
        "SPDXID": "SPDXRef-gconv", "name": "gconv", "versionInfo": version,
        "supplier": "Organization: The gconv developers", "downloadLocation": "NOASSERTION",
        "filesAnalyzed": False, "licenseConcluded": "MIT", "licenseDeclared": "MIT",
        "copyrightText": "Copyright (c) 2026 The gconv developers",
    }
    others = [package(part, licences) for part in sorted(found)]
    hows = [found[part] for part in sorted(found)]
    if cuda:
        others.append(cuda_runtime(cuda))
        hows.append("STATIC_LINK")
    related = [{"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES",
                "relatedSpdxElement": own["SPDXID"]}]
    related += [{"spdxElementId": own["SPDXID"], "relationshipType": how,
                 "relatedSpdxElement": other["SPDXID"]}
                for how, other in zip(hows, others)]
    second = datetime.datetime.fromtimestamp(int(os.environ["SOURCE_DATE_EPOCH"]),
                                             datetime.timezone.utc)
    packages = [own, *others]
    digest = hashlib.sha256(json.dumps(packages).encode()).hexdigest()
    print(json.dumps({
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT",
        "name": name, "documentNamespace": f"urn:sha256:{digest}",
        "creationInfo": {"created": second.strftime("%Y-%m-%dT%H:%M:%SZ"),
                         "creators": ["Tool: packaging/sbom.py"]},
        "packages": packages, "relationships": related,
    }, indent=1))


if __name__ == "__main__":
    main(*sys.argv[1:])
