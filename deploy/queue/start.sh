#!/bin/sh
# Puts the nodes of the image where n8n looks for community nodes, then runs n8n with the given command.
set -e
nodes="$HOME/.n8n/nodes"
mkdir -p "$nodes"
rm -rf "$nodes/node_modules" "$nodes/package.json"
cp -r /opt/community/node_modules "$nodes/node_modules"
cp /opt/community/package.json "$nodes/package.json"
exec n8n "$@"
