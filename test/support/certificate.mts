/** Certificates for services of tests, made by openssl. */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** The key and certificate of an HTTPS server, and the file with the certificate. */
export interface Certificate {
	key: string;
	cert: string;
	certFile: string;
}

/**
 * Makes `<name>.key` and `<name>.pem` in a folder, signed by `issuer`, which was made there before, or self-signed.
 * @param extension such as `subjectAltName=DNS:localhost`
 */
export function certify(
	folder: string,
	name: string,
	extension: string,
	issuer?: string,
): Certificate {
	const openssl = (...words: string[]): Buffer =>
		execFileSync('openssl', words, { cwd: folder, stdio: 'pipe' });
	const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
	const made = ['-keyout', `${name}.key`, '-subj', `/CN=${name}`, '-addext', extension];
	const out = ['-out', `${name}.pem`, '-days', '2'];
	if (issuer === undefined) openssl('req', '-x509', ...kind, ...made, ...out);
	else {
		writeFileSync(join(folder, `${name}.ext`), extension);
		openssl('req', ...kind, ...made, '-out', `${name}.csr`);
		const by = ['-CA', `${issuer}.pem`, '-CAkey', `${issuer}.key`, '-CAcreateserial'];
		openssl('x509', '-req', '-in', `${name}.csr`, '-extfile', `${name}.ext`, ...by, ...out);
	}
	const [key = '', cert = ''] = ['key', 'pem'].map((ending) =>
		readFileSync(join(folder, `${name}.${ending}`), 'utf8'),
	);
	return { key, cert, certFile: join(folder, `${name}.pem`) };
}
