/** The tests of files, without PostgreSQL and n8n. @type {import('jest').Config} */
module.exports = {
	...require('../jest.config.js'),
	rootDir: '..',
	roots: ['<rootDir>/gate/test/unit'],
};
