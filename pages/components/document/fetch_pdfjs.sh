#!/bin/sh
# Fetches the version of pdf.js that is kept beside this script (see pdfjs/NOTICE) and checks it: `make viewer`.
set -eu
version=5.6.205
digest=b65523fb62036bb1b549bbc134def850744b2726d90d66289be93aa79288665ee1b81bec03800f8ba98a2fecc2c5dded2e337984e38413d4efed57733bcf297e
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm pack --silent "pdfjs-dist@$version"
echo "$digest  pdfjs-dist-$version.tgz" | sha512sum --check --quiet
tar xzf "pdfjs-dist-$version.tgz"
cp package/LICENSE package/build/pdf.min.mjs package/build/pdf.worker.min.mjs "$here/pdfjs/"
for folder in cmaps standard_fonts wasm; do
  rm -rf "$here/pdfjs/$folder"
  cp -R "package/$folder" "$here/pdfjs/$folder"
done
