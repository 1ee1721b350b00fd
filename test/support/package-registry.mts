/** A package registry on loopback. A proxy setting leads every https request of npm to it. */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { z } from 'zod';
import { certify } from './certificate.mts';
import { serve } from './engine/served.mts';

const run = promisify(execFile);

const Manifest = z.object({ name: z.string(), version: z.string() }).passthrough();

/** Starts without a package in it. */
export async function startPackageRegistry() {
	const folder = await mkdtemp(join(tmpdir(), 'package-registry-'));
	const tarballs = new Map<string, Buffer>();
	const packages = new Map<string, { latest: string; versions: Record<string, unknown> }>();
	const requests: string[] = [];

	const { certFile, ...identity } = certify(
		folder,
		'registry',
		'subjectAltName=DNS:registry.npmjs.org',
	);
	const registry = createTlsServer(identity, (request, response) => {
		const path = decodeURIComponent(request.url ?? '/');
		requests.push(path);
		const tarball = tarballs.get(basename(path));
		if (tarball !== undefined) return response.end(tarball);
		const [name = '', wanted] = path.slice(1).split('/');
		const known = packages.get(name);
		const tags = { latest: known?.latest ?? '' };
		const whole = known && { name, 'dist-tags': tags, versions: known.versions };
		const version = wanted === 'latest' ? tags.latest : wanted;
		const found = version === undefined ? whole : known?.versions[version];
		if (found === undefined) return response.writeHead(404).end('{}');
		response.setHeader('content-type', 'application/json');
		response.end(JSON.stringify(found));
	});
	const proxy = createServer();
	proxy.on('connect', (_request, socket: Socket) => {
		socket.write('HTTP/1.1 200 Connection Established\r\n\r\n');
		registry.emit('connection', socket);
	});
	const { url, close } = await serve(proxy);

	return {
		/** Paths that npm asked for. */
		requests,
		/** The variables of n8n's environment that lead its npm to this registry. */
		env: {
			// n8n's own requests end here too: requests to the registry are answered, and other ones reject the
			// certificate.
			NODE_EXTRA_CA_CERTS: certFile,
			HTTPS_PROXY: url,
			https_proxy: url,
			NO_PROXY: '127.0.0.1',
			no_proxy: '127.0.0.1',
			npm_config_https_proxy: url,
			npm_config_strict_ssl: 'false',
			npm_config_cache: join(folder, 'cache'),
		},
		/** Adds a version from its tarball and makes it the latest; resolves to its name and version. */
		async publish(tarball: string): Promise<{ name: string; version: string }> {
			const content = await readFile(tarball);
			const { stdout } = await run('tar', ['-xzOf', tarball, 'package/package.json']);
			const manifest = Manifest.parse(JSON.parse(stdout));
			const { name, version } = manifest;
			const file = `${name}-${version}.tgz`;
			tarballs.set(file, content);
			const digest = (algorithm: string) => createHash(algorithm).update(content);
			const dist = {
				tarball: `https://registry.invalid/${name}/-/${file}`,
				shasum: digest('sha1').digest('hex'),
				integrity: `sha512-${digest('sha512').digest('base64')}`,
			};
			const versions = { ...packages.get(name)?.versions, [version]: { ...manifest, dist } };
			packages.set(name, { latest: version, versions });
			return { name, version };
		},
		async stop(): Promise<void> {
			await close();
			await rm(folder, { recursive: true, force: true });
		},
	};
}
