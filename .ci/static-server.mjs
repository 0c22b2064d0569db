// Serves a folder of static files on this machine, for ./serve and for the browser tests:
//   node .ci/static-server.mjs FOLDER PORT          takes the next free port when that one is taken
//
// Why not `vite preview`: it answers an unknown path with index.html, so that a wrong link to a file would pass every test; it
// cannot serve below a path, which GitHub Pages does (/fourfold/); and the page must work from any host that only has files.
import { createServer } from 'node:http';
import { readFile } from 'node:fs/promises';
import { extname, join, resolve, sep } from 'node:path';
import { pathToFileURL } from 'node:url';
import { gzipSync } from 'node:zlib';

// Nothing but this origin, no inline code, no eval; WebAssembly may compile. The page must work under it unchanged.
export const contentSecurityPolicy = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'; connect-src 'self'; "
    + "style-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'";

const types = {
    '.html': 'text/html; charset=utf-8', '.js': 'text/javascript; charset=utf-8', '.mjs': 'text/javascript; charset=utf-8',
    '.css': 'text/css; charset=utf-8', '.json': 'application/json', '.map': 'application/json', '.txt': 'text/plain; charset=utf-8',
    '.webmanifest': 'application/manifest+json', '.wasm': 'application/wasm', '.svg': 'image/svg+xml', '.png': 'image/png', '.ico': 'image/x-icon',
};
// A file whose name changes with its content may be kept; hosts of static files do the same, and every worker asks for its file again.
const named = /-[\w-]{8}\.\w+$/;
const compressible = /^text\/|json|javascript|wasm|svg/;

// base: the path that the folder is served at ("/" or "/name/"). Resolves to {server, url}.
export function serveFolder(folder, port, { base = '/', host = '127.0.0.1' } = {}) {
    const root = resolve(folder);
    const server = createServer(async (request, response) => {
        const refuse = (status) => response.writeHead(status, { 'Content-Type': 'text/plain' }).end(`${status}\n`);
        if (request.method !== 'GET' && request.method !== 'HEAD') return refuse(405);
        try {
            const { pathname } = new URL(request.url, `http://${host}`);
            if (!pathname.startsWith(base)) return refuse(404);
            let path = join(root, decodeURIComponent(pathname.slice(base.length)));
            if (pathname.endsWith('/')) path = join(path, 'index.html');
            if (!path.startsWith(root + sep)) return refuse(404);
            let body = await readFile(path);
            const headers = {
                'Content-Type': types[extname(path)] ?? 'application/octet-stream',
                'Content-Security-Policy': contentSecurityPolicy,
                'X-Content-Type-Options': 'nosniff',
                'Referrer-Policy': 'no-referrer',
                'Cache-Control': named.test(path) ? 'max-age=600' : 'no-cache',
                Vary: 'Accept-Encoding',
            };
            if (/\bgzip\b/.test(request.headers['accept-encoding'] ?? '') && compressible.test(headers['Content-Type'])) {
                body = gzipSync(body);
                headers['Content-Encoding'] = 'gzip';
            }
            response.writeHead(200, { ...headers, 'Content-Length': body.length }).end(request.method === 'HEAD' ? undefined : body);
        } catch (error) {
            refuse(error instanceof URIError ? 400 : 404);   // a missing file, a folder, a path that is no path
        }
    });
    return new Promise((done, fail) => {
        server.once('error', fail);
        server.listen(port, host, () => done({ server, url: `http://${host}:${server.address().port}${base}` }));
    });
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
    const [folder, first] = [process.argv[2], Number(process.argv[3])];
    for (let port = first; ; ++port) {
        try {
            const { url } = await serveFolder(folder, port);
            for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(0));   // also as process 1 of a container
            console.log(`Fourfold is at ${url}   (stop with Ctrl-C)`);
            break;
        } catch (error) {
            if (error.code !== 'EADDRINUSE' || port >= first + 100) throw error;
            console.log(`Port ${port} is taken, trying ${port + 1}.`);
        }
    }
}
