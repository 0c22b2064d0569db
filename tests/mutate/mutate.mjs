// How many small mistakes in the formulas of memory and time do the tests notice? Changes one constant or operator at a time (sites.mjs)
// and runs the tests that were worked by hand or state a law (ask.mjs): no golden answer, no measured run. All mutants are built at once, in
// a copy of the tree below build/mutate (one_binary.mjs, tree.mjs): some minutes at first, and later only what has changed.
//   node tests/mutate/mutate.mjs [--count 200] [--seed 1] [--only memory/verdict.cpp] [--at-least 85]
// Prints every mutant that survived, and the share that died; exits with 1 below --at-least.
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Tests } from './ask.mjs';
import { drawn, readFiles } from './sites.mjs';
import { buildAll, buildWith, root } from './tree.mjs';

const { values: options } = parseArgs({
    options: {
        count: { type: 'string', default: '200' },
        seed: { type: 'string', default: '1' },
        only: { type: 'string', default: '' },
        'at-least': { type: 'string', default: '0' },
    },
});

const files = readFiles(join(root, 'core'));
const lineOf = ({ file, at }) => {
    const { text } = files.find(({ name }) => name === file);
    const number = text.slice(0, at).split('\n').length;
    return { number, text: text.split('\n')[number - 1].trim() };
};

const apart = buildAll(files);
const tests = await Tests.measured();

// The command itself is checked: with a weight of three bytes, not two, a time cannot be right.
const ofWeightBytes = (site) => site.was === '2' && lineOf(site).text.startsWith('inline constexpr double kWeightBytes = 2;');
const known = files.flatMap(({ sites }) => sites).find(ofWeightBytes);
if (!known || apart.has(known.id)) throw new Error('The mutant that is known to die, kWeightBytes = 3, is not there.');
if (await tests.pass(known.id)) throw new Error('The tests pass with kWeightBytes = 3.');

const from = files.filter(({ name }) => name.includes(options.only));
const all = from.flatMap(({ sites }) => sites);
const wanted = Math.min(Number(options.count), all.length);
console.log(`${all.length} places in ${from.length} files; ${wanted} are tried`);

let died = 0;
let tried = 0;
async function ask(site, mutant) {
    const lives = await tests.pass(mutant);
    ++tried;
    if (lives) {
        const { number, text } = lineOf(site);
        console.log(`survived  core/${site.file}:${number}: "${site.was.trim()}" -> "${site.now.trim()}"   ${text}`);
    } else ++died;
    if (tried % 25 === 0) console.log(`${died} of ${tried} died so far`);
}
async function askSideBySide(sites) {
    const left = [...sites];
    const oneAfterAnother = async () => {
        for (let site = left.shift(); site; site = left.shift()) await ask(site, site.id);
    };
    await Promise.all(Array.from({ length: availableParallelism() }, oneAfterAnother));
}

const draws = drawn(all, options.seed);
const broken = [];
for (;;) {
    const some = Array.from({ length: wanted - tried }, () => draws.next().value).filter(Boolean);
    if (some.length === 0) break;
    await askSideBySide(some.filter(({ id }) => !apart.has(id)));
    const ofTheirOwn = some.filter(({ id }) => apart.has(id));
    for (const site of ofTheirOwn) {
        if (buildWith(files, apart, site)) await ask(site);
        else broken.push(`core/${site.file}:${lineOf(site).number}`);
    }
    if (ofTheirOwn.length > 0) buildWith(files, apart);
}
if (broken.length > 0) console.log(`${broken.length} places were not tried, for the change does not compile: ${broken.join(', ')}`);
const share = (100 * died) / tried;
console.log(`${died} of ${tried} mutants died: ${share.toFixed(1)} %`);
process.exitCode = share >= Number(options['at-least']) ? 0 : 1;
