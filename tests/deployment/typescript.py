"""Checks JSON against declared types: TypeScript's compiler compiles constants that are written down with their type. A key
that the type does not have is an error, as is a value that it does not take."""
import json
import subprocess

import packages


def said(folder, lines, paths=None):
    """What the compiler says of `lines`, which find packages in the folder's node_modules or by `paths`."""
    (folder / "check.ts").write_text("\n".join([*lines, "export {};"]))
    options = {"strict": True, "noEmit": True, "skipLibCheck": True, "types": [], "target": "es2022", "module": "es2022",
               "moduleResolution": "bundler", "preserveSymlinks": True, "paths": paths or {}}
    (folder / "tsconfig.json").write_text(json.dumps({"files": ["check.ts"], "compilerOptions": options}))
    compiler = packages.npm(packages.TYPESCRIPT) / "typescript/bin/tsc"
    return subprocess.run(["node", str(compiler), "-p", str(folder)], capture_output=True, text=True).stdout
