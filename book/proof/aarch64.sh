#!/bin/sh
# Makes _build/aarch64/python, an emulated Python for aarch64 with NumPy and PyTorch, from Debian's and PyPI's packages.
# Needs Debian's qemu-user-static, and a Python of the version that Debian has. PyTorch's later wheels for aarch64
# need CUDA's libraries, so that it is not the version of the recordings. Of the processors that qemu knows, the one
# named below is fast enough and runs all of PyTorch's code.
set -eu
PYTHON=$("${PYTHON:-python3}" -c "import sys; print(sys.executable)") # absolute, for other folders
TORCH=${TORCH:-2.10.0}
cd "$(dirname "$0")/../.."
NUMPY=$(sed -n 's/^numpy==\([^ ]*\).*/\1/p' requirements.txt)
VERSION=$("$PYTHON" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
PURE=$("$PYTHON" -c 'import sysconfig; print(sysconfig.get_path("purelib"))') # what is not compiled serves both
mkdir -p _build/aarch64 && cd _build/aarch64
HERE=$PWD
rm -rf system site && mkdir -p system site debs wheels state/lists/partial cache/archives/partial

cat > apt.conf <<END
APT::Architecture "arm64"; APT::Architectures { "arm64"; };
Dir::State "$HERE/state"; Dir::State::status "$HERE/state/status"; Dir::Cache "$HERE/cache";
END
: > state/status
export APT_CONFIG="$HERE/apt.conf"
apt-get update -q
needed=$(apt-get install -s -y --no-install-recommends "python$VERSION" libgomp1 libstdc++6 | awk '/^Inst/ {print $2}')
(cd debs && apt-get download $needed)
for package in debs/*.deb; do dpkg -x "$package" system; done

"$PYTHON" -m pip download --quiet --no-deps --only-binary :all: --python-version "$VERSION" \
  --platform manylinux_2_28_aarch64 --platform manylinux_2_27_aarch64 -d wheels "numpy==$NUMPY" "torch==$TORCH"
for wheel in wheels/*.whl; do "$PYTHON" -m zipfile -e "$wheel" site; done

cat > python <<END
#!/bin/sh
export PYTHONPATH="\$PYTHONPATH:$HERE/site:$PURE"
exec qemu-aarch64-static -cpu neoverse-n1 -L "$HERE/system" "$HERE/system/usr/bin/python$VERSION" "\$@"
END
chmod +x python
./python -c 'import platform, torch; print(platform.machine(), torch.__version__)'
