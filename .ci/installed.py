"""`installed.py PACKAGE DIRECTORY`: writes a wheel into the directory that points to the sources of a package of maturin, which
are used as they are, with the library that lies among them."""

import pathlib
import shutil
import subprocess
import sys
import tempfile
import zipfile

package, directory = (pathlib.Path(argument).resolve() for argument in sys.argv[1:])
shutil.rmtree(directory, ignore_errors=True)
directory.mkdir(parents=True)
with tempfile.TemporaryDirectory() as made:
    subprocess.run(["maturin", "pep517", "write-dist-info", "--metadata-directory", made], cwd=package, check=True,
                   stdout=subprocess.DEVNULL)
    (described,) = pathlib.Path(made).iterdir()
    name, version = described.stem.split("-", 1)
    files = {f"{described.name}/{file.name}": file.read_text() for file in described.iterdir() if file.is_file()}
files[f"{described.name}/WHEEL"] = "Wheel-Version: 1.0\nGenerator: installed\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
files[f"{name}.pth"] = f"{package}\n"
record = f"{described.name}/RECORD"
files[record] = "".join(f"{file},,\n" for file in [*files, record])
with zipfile.ZipFile(directory / f"{name}-{version}-py3-none-any.whl", "w") as wheel:
    for file, text in files.items():
        wheel.writestr(file, text)
