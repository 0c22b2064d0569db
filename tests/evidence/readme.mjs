// Writes the part of README.md that says how far the estimates are from measured runs, from table.json:
//   node tests/evidence/readme.mjs
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = new URL('../../', import.meta.url);
const read = (path) => readFileSync(new URL(path, root), 'utf8');

export const BEGIN = '<!-- accuracy: tests/evidence/readme.mjs writes this part from tests/evidence/table.json -->';
export const END = '<!-- end of accuracy -->';

export const table = () => JSON.parse(read('tests/evidence/table.json'));
const words = JSON.parse(read('web/src/words/en.json'));

const percent = (share, digits = 1) => `${(100 * share).toFixed(digits)} %`;
const count = (value) => value.toLocaleString('en-US');
const sum = (all, key) => all.reduce((total, one) => total + one[key], 0);
const linked = (text, url) => (url ? `[${text}](${url})` : text);
// As the page calls them.
const familyName = (family, source) => words[`measured.family.${family}`] ?? source?.source ?? family;
const standing = (source) => (source ? words[`measured.standing.${source.standing}`] : '–');

function middle(values) {
    const sorted = [...values].sort((a, b) => a - b);
    const half = sorted.length >> 1;
    return sorted.length % 2 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}

const STANDINGS = ['fit', 'seen', 'blind'];
const standingLine = () =>
    `${STANDINGS.map((one) => `"${words[`measured.standing.${one}`]}": ${words[`measured.means.${one}`].replace(/^[A-Z]/, (letter) => letter.toLowerCase()).replace(/\.$/, '')}`).join('; ')}.`;

// Runs made while the network stalled now and then: no estimate is meant for such a network, and they are told apart.
const STALLED = 'nanotron-slow-network';
const onSound = (time) => Object.fromEntries(Object.entries(time).filter(([family]) => family !== STALLED));

const worstFirst = (part) => Object.entries(part).sort(([, a], [, b]) => b.mean - a.mean);

const insideBand = (families) => families.reduce((total, one) => total + one.rows * one.inside_band, 0) / sum(families, 'rows');
const middleFamily = (families) => percent(middle(families.map(({ mean }) => mean)));

// A row for the families of each standing: how far off the middle one and the worst one are.
function standingRow(one, { sources, time }) {
    const families = worstFirst(onSound(time)).filter(([, { standing: its }]) => its === one);
    const [worst, its] = families[0];
    const rows = families.map(([, family]) => family);
    const cells = [rows.length, count(sum(rows, 'rows')), middleFamily(rows), `${percent(its.mean)} (${familyName(worst, sources[its.source])})`, percent(insideBand(rows), 0)];
    return `| ${[words[`measured.standing.${one}`], ...cells].join(' | ')} |`;
}

function familyRow([family, one], sources) {
    const source = sources[one.source];
    const choice = one.jobs > 0 ? `${percent(one.regret)} (${percent(one.rule_regret)})` : '–';
    const cells = [linked(familyName(family, source), source?.url), count(one.rows), percent(one.mean), percent(one.inside_band, 0), choice];
    return `| ${[...cells, standing(one)].join(' | ')} |`;
}

const stalled = (one) =>
    one
        ? ` ${count(one.rows)} more were made while the network of their cluster stalled now and then: ` +
          `${percent(one.inside_band, 0)} of these do, and the first table leaves them out.`
        : '';

function timeLines(all) {
    const families = Object.values(onSound(all.time));
    return [
        `- Step times of ${count(sum(families, 'rows'))} measured runs in ${families.length} families: the mean error of the middle family is ` +
            `${middleFamily(families)}, and ${percent(insideBand(families), 0)} of the runs lie in the band that is told.${stalled(all.time[STALLED])}`,
        '',
        '| standing | families | runs | mean error of the middle family | of the worst | within the band |',
        '|---|--:|--:|--:|---|--:|',
        ...STANDINGS.map((one) => standingRow(one, all)),
        '',
        standingLine(),
        '',
        '<details><summary>Each family, the worst first</summary>',
        '',
        '"Choice" is the time lost by taking the first plan in the page’s order instead of the fastest one measured; in brackets, by a rule of thumb.',
        '',
        '| family | runs | mean error | within the band | choice (rule of thumb) | standing |',
        '|---|--:|--:|--:|--:|---|',
        ...worstFirst(all.time).map((one) => familyRow(one, all.sources)),
        '',
        '</details>',
        '',
    ];
}

function verdictLines({ verdict }) {
    const all = Object.values(verdict);
    const [no, ran] = [sum(all, 'does_not_fit'), sum(all, 'does_not_fit_ran')];
    return [
        `- Of ${count(sum(all, 'fits'))} runs called "fits" ${count(sum(all, 'fits_ran'))} ran; of ${count(no)} called "does not fit" ${ran === 0 ? 'none' : count(ran)} did.`,
    ];
}

function memoryRow([family, one], sources) {
    const source = sources[one.source];
    const cells = [linked(familyName(family, source), source?.url), count(one.rows), percent(one.mean), percent(one.most), words[`measured.standing.${one.standing}`]];
    return `| ${cells.join(' | ')} |`;
}

function memoryLines({ memory, sources }) {
    const families = Object.values(memory);
    const blind = families.filter(({ standing: its }) => its === 'blind');
    return [
        `- Peak memory of ${count(sum(families, 'rows'))} measured runs in ${families.length} families: the mean error of the middle family is ` +
            `${middleFamily(families)}, of the ${blind.length} that are blind ${middleFamily(blind)}.`,
        '',
        '<details><summary>Each family, the worst first</summary>',
        '',
        '| family | runs | mean error | the largest | standing |',
        '|---|--:|--:|--:|---|',
        ...worstFirst(memory).map((one) => memoryRow(one, sources)),
        '',
        '</details>',
        '',
    ];
}

const longestLines = ({ longest }) =>
    Object.entries(longest ?? {}).map(
        ([family, one]) =>
            `- ${familyName(family)}, ${one.rows} published: ${percent(one.within, 0)} of the estimates within 15 %, mean error ${percent(one.mean)}.`,
    );

export const accuracy = (all) => [...timeLines(all), ...verdictLines(all), ...memoryLines(all), ...longestLines(all)].join('\n');

export const readme = () => read('README.md');
// README with the list that the table asks for.
export function written(text, all) {
    const [from, to] = [text.indexOf(BEGIN), text.indexOf(END)];
    if (from < 0 || to < from) throw new Error('README.md has no place for the list: its two markers are missing');
    return `${text.slice(0, from + BEGIN.length)}\n${accuracy(all)}\n${text.slice(to)}`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(new URL('README.md', root), written(readme(), table()));
