// Serves a folder of static files on this machine, for ./serve and for the browser tests:
//   node .ci/static-server.mjs FOLDER PORT          takes the next free port when that one is taken
//
// Why not `vite preview`: it answers an unknown path with index.html, so that a wrong link to a file would pass every test; it
// cannot serve below a path, which GitHub Pages does (/fourfold/); and the page must work from any host that only has files.
import { createServer } from 'node:http';
import { readFile, realpath } from 'node:fs/promises';
import { extname, join, resolve, sep } from 'node:path';
import { pathToFileURL } from 'node:url';
import { gzipSync } from 'node:zlib';

// Nothing but this origin, no inline code but the one script with this hash (web/plugins/policy.ts), no eval; WebAssembly may compile. One other place may be asked, which the page does where its
// reader clicks on what says so: the Hugging Face hub, for a config.json. The page must work under it unchanged.
export const contentSecurityPolicy = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval' 'sha256-HAixucKOSq+EktR9s4gvT6pZDcG9VSXYL9W6VZGs19M='; worker-src 'self'; connect-src 'self' https://huggingface.co; "
    + "style-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'";

const types = {
    '.html': 'text/html; charset=utf-8', '.js': 'text/javascript; charset=utf-8', '.mjs': 'text/javascript; charset=utf-8',
    '.css': 'text/css; charset=utf-8', '.json': 'application/json', '.map': 'application/json', '.txt': 'text/plain; charset=utf-8',
    '.webmanifest': 'application/manifest+json', '.wasm': 'application/wasm', '.svg': 'image/svg+xml', '.png': 'image/png', '.ico': 'image/x-icon',
};
// A file whose name changes with its content may be kept; hosts of static files do the same, and every worker asks for its file again.
const named = /-[\w-]{8}\.\w+$/;
const compressible = /^text\/|json|javascript|wasm|svg/;

const common = {
    'Content-Security-Policy': contentSecurityPolicy,
    'X-Content-Type-Options': 'nosniff',
    'Referrer-Policy': 'no-referrer',
    'Cache-Control': 'no-cache',
};

// The file that a path names, or null: no hidden file (.git, .env), and nothing outside of the folder, also not through a link.
async function fileAt(root, name) {
    if (name.split(/[/\\]/).some((part) => part.startsWith('.'))) return null;
    const path = await realpath(join(root, name));
    return path.startsWith(root + sep) ? path : null;
}

async function answer(request, response, folder, base) {
    const refuse = (status) => response.writeHead(status, { ...common, 'Content-Type': 'text/plain; charset=utf-8' }).end(`${status}\n`);
    if (request.method !== 'GET' && request.method !== 'HEAD') return refuse(405);
    try {
        const { pathname } = new URL(request.url, 'http://127.0.0.1');
        if (!pathname.startsWith(base)) return refuse(404);
        const name = decodeURIComponent(pathname.slice(base.length)) + (pathname.endsWith('/') ? 'index.html' : '');
        const path = await fileAt(await realpath(folder), name);
        if (path === null) return refuse(404);
        let body = await readFile(path);
        const headers = { ...common, 'Content-Type': types[extname(path)] ?? 'application/octet-stream', Vary: 'Accept-Encoding' };
        // A page elsewhere takes this module script: that needs leave, which GitHub Pages gives for every file.
        if (name === 'embed.js') headers['Access-Control-Allow-Origin'] = '*';
        if (named.test(path)) headers['Cache-Control'] = 'max-age=600';
        if (/\bgzip\b/.test(request.headers['accept-encoding'] ?? '') && compressible.test(headers['Content-Type'])) {
            body = gzipSync(body);
            headers['Content-Encoding'] = 'gzip';
        }
        response.writeHead(200, { ...headers, 'Content-Length': body.length }).end(request.method === 'HEAD' ? undefined : body);
    } catch (error) {
        refuse(error instanceof URIError ? 400 : 404);   // a missing file, a folder, a path that is no path
    }
}

// base: the path that the folder is served at ("/" or "/name/"). Resolves to {server, url}.
export function serveFolder(folder, port, { base = '/', host = '127.0.0.1' } = {}) {
    const root = resolve(folder);
    const server = createServer((request, response) => answer(request, response, root, base));
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
