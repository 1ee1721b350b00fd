const { dest, src } = require('gulp');

// What TypeScript does not copy: icons, codex files and output schemas, at the paths n8n looks for them.
const assets = ['nodes/**/*.svg', 'nodes/**/*.node.json', 'nodes/**/__schema__/**/*.json'];

const copyAssets = () => src(assets, { base: '.', encoding: false }).pipe(dest('dist'));

exports.default = copyAssets;
