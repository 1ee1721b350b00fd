#!/usr/bin/env bash
# Nothing outside of gate/ needs it: in a copy without that folder, all that `npm test` and `npm run demo` run has to pass,
# but for the model, which imports nothing of it either.
set -euo pipefail
cd "$(dirname "$0")/../.."

copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
git ls-files -z --cached --others --exclude-standard -- ':!gate' | tar --create --null --files-from=- --ignore-failed-read 2> /dev/null | tar --extract --directory="$copy"
ln -s "$PWD/node_modules" "$copy/node_modules"
if [ -d demo/node_modules ]; then ln -s "$PWD/demo/node_modules" "$copy/demo/node_modules"; fi
cd "$copy"
git init --quiet
npm run build
npm run lint
npm run typecheck
npm run scan
npx jest test/repository test/unit test/engine test/sandbox
npm run demo
