// The server of .ci/static-server.mjs gives the files of its folder, and nothing else.
import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { contentSecurityPolicy, serveFolder } from '../../.ci/static-server.mjs';

let parent, server;

before(async () => {
    parent = await mkdtemp(join(tmpdir(), 'fourfold-server-'));
    const folder = join(parent, 'site');
    await mkdir(join(folder, '.git'), { recursive: true });
    await mkdir(join(folder, 'assets'));
    await writeFile(join(folder, 'index.html'), '<p>page</p>');
    await writeFile(join(folder, 'assets', 'a.js'), '1');
    await writeFile(join(folder, 'embed.js'), '1');
    await writeFile(join(folder, '.env'), 'secret');
    await writeFile(join(folder, '.git', 'config'), 'secret');
    await writeFile(join(parent, 'secret.txt'), 'secret');
    await symlink(join(parent, 'secret.txt'), join(folder, 'link.txt'));
    await symlink(parent, join(folder, 'up'));
    await symlink(join(folder, 'index.html'), join(folder, 'same.html'));
    await symlink(folder, join(parent, 'site-link'));
    ({ server } = await serveFolder(join(parent, 'site-link'), 0));   // the folder itself may be reached through a link
});
after(async () => {
    server.close();
    await rm(parent, { recursive: true });
});

// fetch() would resolve the dots of a path itself.
const get = (path, method = 'GET') =>
    new Promise((done, fail) => {
        const asked = request({ host: '127.0.0.1', port: server.address().port, path, method }, (response) => {
            let text = '';
            response.on('data', (part) => (text += part)).on('end', () => done({ status: response.statusCode, headers: response.headers, text }));
        });
        asked.on('error', fail).end();
    });

test('files of the folder are given, also through a link that stays inside', async () => {
    for (const path of ['/', '/index.html', '/same.html']) assert.equal((await get(path)).text, '<p>page</p>', path);
    assert.equal((await get('/assets/a.js')).headers['content-type'], 'text/javascript; charset=utf-8');
});

test('a link that leads out of the folder, and a hidden file, are not there', async () => {
    const paths = ['/link.txt', '/up/secret.txt', '/.env', '/.git/config', '/%2eenv', '/../secret.txt',
        '/%2e%2e/secret.txt', '/..%2fsecret.txt', '/assets/../.env', '/assets/', '/assets', '/nothing'];
    for (const path of paths) {
        const { status, text } = await get(path);
        assert.equal(status, 404, path);
        assert.ok(!text.includes('secret'), path);
    }
});

test('every answer carries the policy, errors too', async () => {
    const answers = [await get('/'), await get('/nothing'), await get('/%ff'), await get('/', 'POST')];
    assert.deepEqual(answers.map(({ status }) => status), [200, 404, 400, 405]);
    for (const { headers } of answers) {
        assert.equal(headers['content-security-policy'], contentSecurityPolicy);
        assert.equal(headers['x-content-type-options'], 'nosniff');
    }
});

test('another page may take the script of the element, and nothing else', async () => {
    const allowed = async (path) => (await get(path)).headers['access-control-allow-origin'];
    assert.deepEqual([await allowed('/embed.js'), await allowed('/'), await allowed('/assets/a.js')], ['*', undefined, undefined]);
});
