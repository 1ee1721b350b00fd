#!/usr/bin/env bash
# Nothing outside of gate/ needs it: a copy without that folder builds, type-checks, and passes the tests that read the
# repository. The other tests and the demo name no path of it, which test/repository/imports.test.mts checks. Lint reads each
# file by itself, so it would find nothing more here.
set -euo pipefail
cd "$(dirname "$0")/../.."

copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
git ls-files -z --cached --others --exclude-standard -- ':!gate' | tar --create --null --files-from=- --ignore-failed-read 2> /dev/null | tar --extract --directory="$copy"
ln -s "$PWD/node_modules" "$copy/node_modules"
cd "$copy"
git init --quiet
npm run build
npm run typecheck
npx jest test/repository
