#!/usr/bin/env python3
"""Writes the bill of materials of a built program, in SPDX 2.3 as JSON: the libraries that it is linked with, by Debian package and
version, and the packages that it was built from. Equal builds give equal bytes: version and time are those of the newest
entry in the changelog, or SOURCE_DATE_EPOCH.

Usage: sbom.py PROGRAM CHANGELOG SETUP OUT     SETUP is cmake/setup.sh, whose product_packages every build installs
"""
import datetime
import email.utils
import hashlib
import json
import os
import re
import subprocess
import sys
from pathlib import Path

TOOLS = {"cmake", "ninja-build", "g++", "pkg-config"}


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def linked(program):
    """Packages of the libraries that the program names, and not those that these need in turn."""
    needed = re.findall(r"\(NEEDED\).*\[(.+)\]", output("readelf", "--dynamic", "--wide", program))
    places = dict(re.findall(r"^\s*(\S+) => (\S+)", output("ldd", program), re.MULTILINE))
    packages = set()
    for library in needed:
        # With /lib a link to /usr/lib, the loader names either place, and dpkg knows the one that the package has.
        place = places[library]
        for known in (place, "/usr" + place, place.removeprefix("/usr"), os.path.realpath(place)):
            found = subprocess.run(["dpkg-query", "--search", known], capture_output=True, text=True)
            if found.returncode == 0:
                packages.add(found.stdout.split(":")[0])
                break
        else:
            sys.exit(f"sbom.py: no package has {place}")
    return packages


def built_from(setup):
    listed = re.search(r"^product_packages=\((.*?)\)", Path(setup).read_text(), re.DOTALL | re.MULTILINE)[1]
    return set(listed.split())


def package(name):
    version, architecture, source, homepage = output(
        "dpkg-query", "--show", "--showformat=${Version}\n${Architecture}\n${source:Package}\n${Homepage}\n", name
    ).split("\n")[:4]
    described = {
        "SPDXID": "SPDXRef-" + re.sub(r"[^A-Za-z0-9.-]", "-", name.replace("+", "-plus")), "name": name,
        "versionInfo": version, "supplier": "Organization: Debian", "downloadLocation": "NOASSERTION",
        "filesAnalyzed": False, "licenseConcluded": "NOASSERTION", "licenseDeclared": "NOASSERTION",
        "copyrightText": "NOASSERTION", "sourceInfo": f"built from the Debian source package {source}",
        "externalRefs": [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator":
                          f"pkg:deb/debian/{name.replace('+', '%2B')}@{version.replace('+', '%2B')}?arch={architecture}"}]}
    return described | ({"homepage": homepage} if homepage else {})


def newest(changelog):
    """Version and time of the changelog's first entry."""
    text = Path(changelog).read_text()
    version = re.match(r"nustream \(([^)]+)\)", text)[1]
    at = email.utils.parsedate_to_datetime(re.search(r"^ -- .*>  (.+)$", text, re.MULTILINE)[1]).timestamp()
    return version, int(os.environ.get("SOURCE_DATE_EPOCH", at))


def main(program, changelog, setup, out):
    version, seconds = newest(changelog)
    libraries, materials = linked(program), built_from(setup)
    content = Path(program).read_bytes()
    digest = hashlib.sha256(content).hexdigest()
    created = datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc)
    product = {"SPDXID": "SPDXRef-nustream", "name": "nustream", "versionInfo": version, "downloadLocation": "NOASSERTION",
               "filesAnalyzed": False, "licenseConcluded": "Apache-2.0", "licenseDeclared": "Apache-2.0",
               "copyrightText": "NOASSERTION", "primaryPackagePurpose": "APPLICATION",
               "checksums": [{"algorithm": "SHA256", "checksumValue": digest}]}
    described = {name: package(name) for name in sorted(libraries | materials)}

    def relation(name):
        if name in libraries:
            return {"spdxElementId": product["SPDXID"], "relationshipType": "DYNAMIC_LINK",
                    "relatedSpdxElement": described[name]["SPDXID"]}
        kind = "BUILD_TOOL_OF" if name in TOOLS else "BUILD_DEPENDENCY_OF"
        return {"spdxElementId": described[name]["SPDXID"], "relationshipType": kind,
                "relatedSpdxElement": product["SPDXID"]}

    document = {
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": f"nustream-{version}",
        "documentNamespace": f"https://spdx.org/spdxdocs/nustream-{version}-{digest}",
        "creationInfo": {"created": created.strftime("%Y-%m-%dT%H:%M:%SZ"), "creators": ["Tool: packaging/sbom.py"]},
        "documentDescribes": [product["SPDXID"]], "packages": [product, *described.values()],
        "relationships": [{"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES",
                           "relatedSpdxElement": product["SPDXID"]}, *map(relation, described)]}
    Path(out).write_text(json.dumps(document, indent=1) + "\n")


main(*sys.argv[1:])
